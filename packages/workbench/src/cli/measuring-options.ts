/** The options of the verbs that measure, read and checked. */
import { type OptionValues, optionError, text } from "./option-text.js";

export interface MeasuringOptions {
  /** Tokens of the context window that shares are of. */
  readonly window: number;
  /** Tokens that instructions and tools may cost. */
  readonly budget: number | undefined;
  /** A file with what `mica cost --json` printed. */
  readonly diff: string | undefined;
  readonly runs: number;
  /** The words of the other command. */
  readonly vs: readonly string[] | undefined;
  readonly connections: number | undefined;
  /** Requests per second. */
  readonly rate: number | undefined;
  readonly seconds: number | undefined;
  readonly requests: number | undefined;
  readonly method: string | undefined;
  readonly allowRemote: boolean;
}

const DEFAULT_WINDOW = 200_000;
const DEFAULT_RUNS = 10;
const MOST_RUNS = 1_000;
const MOST_CONNECTIONS = 10_000;
const MOST_RATE = 100_000;
const MOST_SECONDS = 600;
/** Every latency is kept, as a number of eight bytes. */
export const MOST_REQUESTS = 5_000_000;

/**
 * @param versus The words of a second command that stood after the first.
 * @throws UsageError naming the option.
 */
export function readMeasuring(values: OptionValues, versus: readonly string[] | undefined): MeasuringOptions {
  const vs = text(values, "vs");
  if (vs !== undefined && versus !== undefined) throw optionError("--vs", "is given twice");
  const given = versus ?? (vs === undefined ? undefined : shellWords(vs));
  if (given !== undefined && (given[0] ?? "") === "") throw optionError("--vs", "expected a command");
  return {
    window: whole(values, "window", 1, 1_000_000_000) ?? DEFAULT_WINDOW,
    budget: whole(values, "budget", 0, 1_000_000_000),
    diff: text(values, "diff"),
    runs: whole(values, "runs", 1, MOST_RUNS) ?? DEFAULT_RUNS,
    vs: given,
    connections: whole(values, "connections", 1, MOST_CONNECTIONS),
    rate: amount(values, "rate", MOST_RATE),
    seconds: amount(values, "seconds", MOST_SECONDS),
    requests: whole(values, "requests", 1, MOST_REQUESTS),
    method: text(values, "method"),
    allowRemote: values["allow-remote"] === true,
  };
}

/** Between `--vs` and the end of what follows `--`: `node new.js --vs -- node old.js`. */
export function splitVersus(command: readonly string[]): {
  command: readonly string[];
  versus: readonly string[] | undefined;
} {
  const at = command.findIndex((word, index) => word === "--vs" && command[index + 1] === "--");
  return at < 0
    ? { command, versus: undefined }
    : { command: command.slice(0, at), versus: command.slice(at + 2) };
}

/**
 * The words of a command as a shell cuts them: at white space, unless it is quoted or escaped. Nothing is expanded.
 *
 * @throws UsageError where a quote is not closed.
 */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at] as string;
    if (quote === "'" || (quote === '"' && character !== "\\")) {
      if (character === quote) quote = "";
      else word += character;
    } else if (character === "\\" && at + 1 < line.length) {
      const next = line[++at] as string;
      const isEscape = quote === "" || '"\\$`'.includes(next);
      word = (word ?? "") + (isEscape ? next : `\\${next}`);
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (quote !== "") throw optionError("--vs", `a ${quote} is not closed`);
  if (word !== undefined) words.push(word);
  return words;
}

function whole(values: OptionValues, name: string, least: number, most: number): number | undefined {
  const given = text(values, name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (/^\d+$/.test(given) && value >= least && value <= most) return value;
  throw optionError(
    `--${name}`,
    `expected a whole number from ${least} to ${most}, got ${JSON.stringify(given)}`,
  );
}

function amount(values: OptionValues, name: string, most: number): number | undefined {
  const given = text(values, name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (/^\d+(\.\d+)?$/.test(given) && value > 0 && value <= most) return value;
  throw optionError(`--${name}`, `expected a number above 0 and up to ${most}, got ${JSON.stringify(given)}`);
}
