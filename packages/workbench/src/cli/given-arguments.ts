/** The arguments of a call as the command line gives them: pairs, and `--args` from where it says. */
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Pair } from "../engine/argument-pairs.js";
import type { Arguments, GivenArguments } from "../engine/arguments.js";
import { isObject, shown } from "../engine/json.js";
import { optionError } from "./options.js";

/**
 * Reads `--args`: JSON, `@FILE`, or `-` for standard input.
 *
 * @throws UsageError where it is no JSON object, or cannot be read.
 */
export async function readGivenArguments(
  pairs: readonly Pair[],
  args: string | undefined,
  streams: { readonly stdin: Readable },
  signal: AbortSignal,
): Promise<GivenArguments> {
  if (args === undefined) return { pairs };
  const { json, from } = await source(args, streams, signal);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw optionError("--args", `expected JSON${from}: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw optionError("--args", `expected a JSON object${from}, got ${shown(value)}`);
  return { pairs, base: value as Arguments };
}

async function source(
  args: string,
  streams: { readonly stdin: Readable },
  signal: AbortSignal,
): Promise<{ json: string; from: string }> {
  if (args === "-")
    return { json: withoutMark(await readAll(streams.stdin, signal)), from: " on standard input" };
  if (!args.startsWith("@")) return { json: args, from: "" };
  const path = args.slice(1);
  try {
    return { json: withoutMark(await readFile(path, "utf8")), from: ` in ${path}` };
  } catch (error) {
    throw optionError("--args", `cannot read ${JSON.stringify(path)}: ${(error as Error).message}`);
  }
}

async function readAll(stdin: Readable, signal: AbortSignal): Promise<string> {
  const { addAbortSignal } = await import("node:stream");
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, stdin)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

/** A byte order mark is none of JSON's characters, and some editors write it. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
