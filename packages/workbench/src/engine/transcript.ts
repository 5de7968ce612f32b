/**
 * A transcript: what a client and a server said to each other, as JSON lines. The first line says what it is, each
 * further one is a message with its time; secrets are masked before anything is written.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isObject, readJson, shown } from "./json.js";
import type { Masker } from "./secrets.js";
import { UsageError } from "./usage-error.js";

/** The version of the shape. */
const TRANSCRIPT = 1;

export interface TranscriptLine {
  /** Milliseconds from the beginning. */
  readonly at: number;
  /** `mica`: an answer in place of a server that gave none. */
  readonly from: "client" | "server" | "mica";
  /** What was said, where it is JSON. */
  readonly message?: unknown;
  /** What was said, where it is none. */
  readonly text?: string;
  /** Under which HTTP status. */
  readonly status?: number;
}

export interface Transcript {
  readonly target: string;
  readonly lines: readonly TranscriptLine[];
}

export interface TranscriptWriter {
  /** Where it is written. */
  readonly path: string;
  /** Messages that were written. */
  readonly messages: number;
  /** Why nothing more is written; undefined while it is. */
  readonly failure: Error | undefined;
  add(from: TranscriptLine["from"], text: string, status?: number): void;
  end(how: Readonly<Record<string, unknown>>): void;
}

/**
 * Begins a transcript, readable by its owner only. Nothing is overwritten: `session.jsonl`, `session-2.jsonl` and so on.
 * A disk that is full later ends the transcript, and nothing else.
 *
 * @throws UsageError where the file cannot be made.
 */
export function writeTranscript(file: string, target: string, masker: Masker): TranscriptWriter {
  const { path, descriptor } = create(file);
  const began = performance.now();
  let failure: Error | undefined;
  let messages = 0;
  const put = (line: object) => {
    if (failure !== undefined) return;
    try {
      // At once, so that it is there whatever ends this process.
      writeSync(descriptor, `${JSON.stringify(line)}\n`);
    } catch (error) {
      failure = error as Error;
    }
  };
  put({ transcript: TRANSCRIPT, startedAt: new Date().toISOString(), target: masker.text(target) });
  const at = () => Math.round((performance.now() - began) * 10) / 10;
  return {
    path,
    get messages() {
      return messages;
    },
    get failure() {
      return failure;
    },
    add(from, text, status) {
      const json = readJson(text);
      const said = json === undefined ? { text: masker.text(text) } : { message: masker.value(json.value) };
      put({ at: at(), from, ...said, ...(status !== undefined && { status }) });
      if (failure === undefined) messages += 1;
    },
    end(how) {
      put({ at: at(), end: how });
      closeSync(descriptor);
    },
  };
}

function create(file: string): { path: string; descriptor: number } {
  const dot = file.lastIndexOf(".");
  const hasEnding = dot > file.lastIndexOf("/") + 1;
  const [stem, ending] = hasEnding ? [file.slice(0, dot), file.slice(dot)] : [file, ""];
  for (let attempt = 1; ; attempt += 1) {
    const path = attempt === 1 ? file : `${stem}-${attempt}${ending}`;
    try {
      return { path, descriptor: openSync(path, "wx", 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST" && attempt < 10_000) continue;
      throw new UsageError(`cannot write ${JSON.stringify(path)}: ${(error as Error).message}`);
    }
  }
}

/** @throws UsageError naming the line that is none of a transcript. */
export async function readTranscript(file: string): Promise<Transcript> {
  const name = JSON.stringify(file);
  let content: string;
  try {
    content = await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${name}: ${(error as Error).message}`);
  }
  // A process that was killed may have left half a line.
  const [first = "", ...rest] = content.split("\n").filter((line) => line.trim() !== "");
  const head = readJson(first)?.value;
  if (!isObject(head) || head["transcript"] !== TRANSCRIPT) {
    throw new UsageError(
      `${name} is no transcript: expected {"transcript":1,...} on its first line, got ${shown(first)}`,
    );
  }
  const lines = rest.flatMap((line, index): TranscriptLine[] => {
    const value = readJson(line)?.value;
    if (isObject(value) && isLine(value)) return [value as unknown as TranscriptLine];
    if ((isObject(value) && "end" in value) || (value === undefined && index === rest.length - 1)) return [];
    throw new UsageError(
      `${name}, line ${index + 2}: expected "at", "from" and "message" or "text", got ${shown(line)}`,
    );
  });
  return { target: typeof head["target"] === "string" ? head["target"] : "", lines };
}

function isLine({ at, from, message, text }: Readonly<Record<string, unknown>>): boolean {
  const isFrom = from === "client" || from === "server" || from === "mica";
  return typeof at === "number" && isFrom && (message !== undefined || typeof text === "string");
}
