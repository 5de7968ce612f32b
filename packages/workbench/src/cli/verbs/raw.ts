/** `mica raw`: speaks to a server by hand, and shows the wire. */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { pause } from "../../engine/pause.js";
import { openRaw, type RawSession } from "../../engine/raw-session.js";
import { textLines } from "../../engine/text-lines.js";
import { UsageError } from "../../engine/usage-error.js";
import type { WireEvent } from "../../engine/wire.js";
import { EXIT } from "../exit.js";
import { optionError } from "../options.js";
import type { Answer, VerbContext } from "../verb.js";
import { wireText } from "../wire-text.js";

/** The same as for every other verb. */
const TIMEOUT_MS = 60_000;

/** What was on the wire, and when: milliseconds from the beginning. */
type Timed = WireEvent & { readonly at: number };

export async function run(context: VerbContext): Promise<Answer> {
  const { target, options, screen, signal, streams } = context;
  const isTerminal = streams.stdin.isTTY === true && screen.out.isTerminal;
  const isEdited = isTerminal && options.file === undefined && !options.json;
  const began = performance.now();
  const events: Timed[] = [];
  let sentAt = began;
  let written: Promise<void> = Promise.resolve();
  let print = (text: string) => {
    written = written.then(() => screen.out.write(`${text}\n`));
    // It is awaited at the end, and ends the command then.
    written.catch(() => {});
  };
  const session = await openRaw(target, {
    signal,
    asIs: options.asIs,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    greets: options.era === "legacy",
    onEvent(event) {
      const now = performance.now();
      if (event.kind === "sent") sentAt = now;
      if (options.json) events.push({ at: Math.round(now - began), ...event });
      else if (event.kind !== "stderr" || options.verbose)
        print(wireText(event, now - sentAt, screen.out.paint));
    },
  });
  try {
    if (isEdited) {
      const { EDITOR_HELP, openEditor } = await import("../raw-editor.js");
      await screen.out.write(`${screen.out.paint.dim(EDITOR_HELP.join("\n"))}\n`);
      const { stdin: input, stdout: output } = streams;
      const editor = openEditor({ input, output, paint: screen.out.paint, signal });
      print = editor.print;
      await editor.run((line) => void session.send(line));
      return { result: {}, print: async () => {} };
    }
    const inTime = await sendAll(session, context);
    await session.close();
    await written;
    const exitCode = session.failure !== undefined ? EXIT.unreachable : inTime ? EXIT.ok : EXIT.timeout;
    const warnings = inTime ? [] : [{ code: "unanswered", message: "not everything was answered in time" }];
    return { result: { events }, print: async () => {}, exitCode, warnings };
  } finally {
    await session.close();
  }
}

/** Sends every line of the file, each when that before it is answered. Says whether all came in time. */
async function sendAll(session: RawSession, { options, signal, streams }: VerbContext): Promise<boolean> {
  const { file, asIs, forMs } = options;
  const stream = file === undefined || file === "-" ? streams.stdin : await openFile(file);
  let number = 0;
  let inTime = true;
  for await (const line of textLines(stream, signal)) {
    number += 1;
    if (!asIs && /^\s*(#|$)/.test(line)) continue;
    if (session.failure !== undefined && streams.stdin !== stream) break;
    try {
      inTime = (await session.send(line)) && inTime;
    } catch (error) {
      if (error instanceof UsageError) error.message = `line ${number}: ${error.message}`;
      throw error;
    }
  }
  const answered = await session.finished();
  if (forMs !== undefined && session.failure === undefined) await pause(forMs, signal);
  return answered && inTime;
}

async function openFile(path: string): Promise<Readable> {
  const { access, constants } = await import("node:fs/promises");
  try {
    await access(path, constants.R_OK);
  } catch (error) {
    throw optionError("--file", `cannot read ${JSON.stringify(path)}: ${(error as Error).message}`);
  }
  return createReadStream(path);
}
