/** The command line, taken apart: verb, target, operands, pairs, options. Nothing is done yet. */
import { parseArgs } from "node:util";
import { type Pair, readPair } from "../engine/argument-pairs.js";
import { suggestion } from "../engine/closest.js";
import type { Target } from "../engine/target.js";
import { UsageError } from "../engine/usage-error.js";
import { splitVersus } from "./measuring-options.js";
import { OPTION_ROWS, type OptionRow } from "./option-rows.js";
import { type Options, type OptionValues, optionError, readOptions, text, texts } from "./options.js";
import { readHeaders, readVariables } from "./target-options.js";
import { applies, type LocalVerb, type ServerVerb, VERBS, type VerbRow } from "./verbs.js";

export type CommandLine =
  | { readonly kind: "help"; readonly verb: VerbRow | undefined }
  | { readonly kind: "version" }
  | {
      readonly kind: "local";
      readonly verb: LocalVerb;
      readonly operands: readonly string[];
      /** What follows `--`. */
      readonly command: readonly string[] | undefined;
      readonly options: Options;
    }
  | {
      readonly kind: "run";
      readonly verb: ServerVerb;
      readonly target: Target;
      readonly operands: readonly string[];
      readonly pairs: readonly Pair[];
      readonly options: Options;
    };

/**
 * Reads the words after `mica`. What follows the first `--` is a command, whatever it looks like.
 *
 * @throws UsageError
 */
export function readCommandLine(argv: readonly string[], env: NodeJS.ProcessEnv): CommandLine {
  const dashes = argv.indexOf("--");
  const own = dashes < 0 ? argv : argv.slice(0, dashes);
  const after = dashes < 0 ? undefined : argv.slice(dashes + 1);
  const { values, words } = parse(own);
  if (values["version"]) return { kind: "version" };
  const asksHelp = values["help"] === true || words[0] === "help";
  const [name, ...rest] = words[0] === "help" ? words.slice(1) : words;
  if (name === undefined) {
    if (asksHelp) return { kind: "help", verb: undefined };
    throw new UsageError("expected a verb; mica --help lists them");
  }
  const verb = VERBS.find((row) => row.name === name);
  if (verb === undefined) throw new UsageError(unknownVerb(name));
  if (asksHelp) return { kind: "help", verb };
  checkApplicable(verb, values);
  if (verb.local) {
    const { operands } = readOperands(verb, rest);
    return { kind: "local", verb, operands, command: after, options: readOptions(values) };
  }
  const { command, versus } = readVersus(verb, after);
  const { target, left } = readTarget(verb, rest, command, values, env);
  return { kind: "run", verb, target, ...readOperands(verb, left), options: readOptions(values, versus) };
}

/** Two commands may follow `--` where a verb compares them. */
function readVersus(
  verb: VerbRow,
  after: readonly string[] | undefined,
): { command: readonly string[] | undefined; versus?: readonly string[] | undefined } {
  return after !== undefined && verb.options?.includes("vs") ? splitVersus(after) : { command: after };
}

/** Whether `--json` was given, for when the command line itself is wrong. */
export function asksForJson(argv: readonly string[]): boolean {
  const dashes = argv.indexOf("--");
  return (dashes < 0 ? argv : argv.slice(0, dashes)).includes("--json");
}

function parse(own: readonly string[]): { values: OptionValues; words: string[] } {
  const rows: readonly OptionRow[] = OPTION_ROWS;
  const options = Object.fromEntries(
    rows.map(({ name, short, value, repeatable }) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        ...(short && { short }),
        ...(repeatable && { multiple: true }),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values, words: positionals };
  } catch (error) {
    throw new UsageError(parseProblem(error as Error & { code?: string }, rows));
  }
}

function parseProblem({ code, message }: Error & { code?: string }, rows: readonly OptionRow[]): string {
  const given = /'(--?[^' ,=]+)/.exec(message)?.[1] ?? "";
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const known = rows.map(({ name }) => `--${name}`);
    return `unknown option ${JSON.stringify(given)}${suggestion(given, known) || "; mica --help lists the options"}`;
  }
  if (code === "ERR_PARSE_ARGS_INVALID_OPTION_VALUE") {
    const row = rows.find(({ name, short }) => given === `--${name}` || given === `-${short}`);
    if (row?.value === undefined) return `${given} takes no value`;
    return `${given}: expected a value, ${given} ${row.value}; one that begins with - is written ${given}=VALUE`;
  }
  return message;
}

function unknownVerb(name: string): string {
  if (isUrl(name)) return `expected a verb before the target: mica probe ${name}`;
  const names = VERBS.map((row) => row.name);
  return `unknown verb ${JSON.stringify(name)}; expected one of ${names.join(", ")}${suggestion(name, names)}`;
}

function checkApplicable(verb: VerbRow, values: OptionValues): void {
  const rows: readonly OptionRow[] = OPTION_ROWS;
  for (const row of rows) {
    if (values[row.name] !== undefined && !applies(row, verb))
      throw optionError(`--${row.name}`, `does not apply to mica ${verb.name}`);
  }
}

function readTarget(
  verb: VerbRow,
  words: readonly string[],
  command: readonly string[] | undefined,
  values: OptionValues,
  env: NodeJS.ProcessEnv,
): { target: Target; left: readonly string[] } {
  const headers = texts(values, "header");
  const variables = texts(values, "env");
  const cwd = text(values, "cwd");
  if (command !== undefined) {
    const [file, ...args] = command;
    if (file === undefined || file === "") throw targetError("expected a command after --");
    if (headers.length > 0) throw optionError("--header", "applies to a URL, and the target is a command");
    const [first] = words;
    if (first !== undefined && isUrl(first) && words.length > verb.takes.length && verb.pairs === undefined) {
      throw targetError(`expected one target, got the URL ${JSON.stringify(first)} and a command`);
    }
    return {
      target: { kind: "command", command: file, args, env: readVariables(variables, env), cwd },
      left: words,
    };
  }
  const [first, ...left] = words;
  if (first === undefined) throw targetError("expected a URL, or a command after --");
  if (!isUrl(first)) throw targetError(notUrl(verb, first, words));
  if (!URL.canParse(first)) throw targetError(`${JSON.stringify(first)} is not a valid URL`);
  if (variables.length > 0) throw optionError("--env", "applies to a command, and the target is a URL");
  if (cwd !== undefined) throw optionError("--cwd", "applies to a command, and the target is a URL");
  return { target: { kind: "url", url: first, headers: readHeaders(headers) }, left };
}

function isUrl(word: string): boolean {
  return /^https?:\/\//i.test(word);
}

function notUrl(verb: VerbRow, first: string, words: readonly string[]): string {
  const expected = `expected a URL (http:// or https://) or a command after --, got ${JSON.stringify(first)}`;
  if (
    /^(localhost|[\w.-]+\.[a-z]{2,}|\d+(\.\d+){3}|\[[\da-f:]+\])(:\d+)?(\/|$)/i.test(first) &&
    !/\.[cm]?[jt]s$|\.py$/.test(first)
  ) {
    return `${expected}. Did you mean http://${first}?`;
  }
  if (words.slice(1).some(isUrl)) return `${expected}; the URL comes first, after ${verb.name}`;
  return expected;
}

function readOperands(verb: VerbRow, left: readonly string[]): { operands: string[]; pairs: Pair[] } {
  const most = verb.takes.length + (verb.mayTake === undefined ? 0 : 1);
  const operands = left.slice(0, most);
  const missing = verb.takes[operands.length];
  const rest = left.slice(most);
  if (missing !== undefined) {
    const operands = verb.takes.join(" ");
    throw new UsageError(
      verb.local
        ? `expected ${operands}: mica ${verb.name} ${operands}`
        : `expected ${operands} after the target: mica ${verb.name} TARGET ${operands}`,
    );
  }
  if (verb.pairs) {
    const [name] = operands;
    // A slip that would otherwise be reported as an unknown name.
    if (name !== undefined && /^[\w.-]+:?=/.test(name)) {
      const expected = verb.takes[0] ?? verb.mayTake;
      throw new UsageError(`expected ${expected} before its arguments, got ${JSON.stringify(name)}`);
    }
    return { operands, pairs: rest.map(readPair) };
  }
  const [extra] = rest;
  if (extra !== undefined) throw new UsageError(`mica ${verb.name} takes no ${JSON.stringify(extra)}`);
  return { operands, pairs: [] };
}

function targetError(message: string): UsageError {
  return new UsageError(`target: ${message}`, [{ path: "target", message }]);
}
