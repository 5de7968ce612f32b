/** What the options of a command line say: their text, read and checked. */
import type { LoggingLevel } from "mica-mcp/client";
import type { Pair } from "../engine/argument-pairs.js";
import { readAnswer } from "../engine/given-answers.js";
import { type MeasuringOptions, readMeasuring } from "./measuring-options.js";
import { type OptionValues, optionError, text, texts } from "./option-text.js";

export { type OptionValues, optionError, text, texts } from "./option-text.js";

export interface Options {
  readonly json: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
  /** Undefined: wherever stderr is a terminal. */
  readonly progress: boolean | undefined;
  readonly timeoutMs: number | undefined;
  /** Undefined: found out by the probe. */
  readonly era: Era | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly args: string | undefined;
  readonly out: string | undefined;
  readonly to: string | undefined;
  readonly external: readonly string[];
  readonly measure: boolean;
  /** In the order in which they were given. */
  readonly answers: readonly Pair[];
  readonly answersFile: string | undefined;
  readonly decline: boolean;
  /** Whether the server is told that it may ask. */
  readonly ask: boolean;
  /** Whether pages may be opened from here. */
  readonly open: boolean;
  readonly roots: readonly string[];
  /** To ask for when signing in. */
  readonly scopes: readonly string[];
  readonly clientId: string | undefined;
  readonly issuer: string | undefined;
  readonly clientMetadata: string | undefined;
  readonly port: number | undefined;
  readonly again: boolean;
  /** Whether warnings of an audit fail. */
  readonly strict: boolean;
  /** Undefined: for people, or JSON where `json` says so. */
  readonly format: Format | undefined;
  readonly baseline: string | undefined;
  readonly writeBaseline: string | undefined;
  readonly onlyRules: readonly string[];
  readonly skipRules: readonly string[];
  readonly allowWrites: readonly string[];
  readonly measuring: MeasuringOptions;
  /** By name, for the authorization rules. Values are secrets. */
  readonly tokens: readonly (readonly [name: string, value: string])[];
  /** What a call is printed as instead of being made. */
  readonly copy: CopyForm | undefined;
  /** Names and values of arguments that are settled. */
  readonly context: readonly (readonly [name: string, value: string])[];
  /** URIs whose changes are of interest. */
  readonly resources: readonly string[];
  readonly lists: readonly ListName[];
  readonly forMs: number | undefined;
  readonly count: number | undefined;
  readonly file: string | undefined;
  readonly asIs: boolean;
  /** Paths of members that may differ. */
  readonly ignore: readonly string[];
}

export type CopyForm = (typeof COPY_FORMS)[number];
export type ListName = (typeof LIST_NAMES)[number];
type Format = "text" | "json" | "sarif" | "junit";
const FORMATS: readonly Format[] = ["text", "json", "sarif", "junit"];
/** The tokens that rules know what to do with. */
const TOKENS = ["valid", "expired", "wrong-audience", "no-scope"];
const COPY_FORMS = ["curl", "mica", "vitest"] as const;
const LIST_NAMES = ["tools", "prompts", "resources"] as const;

type Era = "auto" | "modern" | "legacy";
const ERAS: readonly Era[] = ["auto", "modern", "legacy"];
const LEVELS: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/**
 * @param versus The words of a second command that stood after the first.
 * @throws UsageError naming the option.
 */
export function readOptions(values: OptionValues, versus?: readonly string[]): Options {
  const level = text(values, "log");
  if (level !== undefined && !LEVELS.includes(level as LoggingLevel)) {
    throw optionError("--log", `expected one of ${LEVELS.join(", ")}, got ${JSON.stringify(level)}`);
  }
  if (values["progress"] && values["no-progress"])
    throw optionError("--progress", "contradicts --no-progress");
  const answering = ["answer", "answers", "decline"].find((name) => values[name] !== undefined);
  if (values["no-ask"] && answering !== undefined)
    throw optionError(`--${answering}`, "contradicts --no-ask");
  const format = oneOf("--format", FORMATS, text(values, "format"));
  if (values["json"] && format !== undefined && format !== "json")
    throw optionError("--format", `${format} contradicts --json`);
  return {
    json: values["json"] === true || format === "json",
    verbose: values["verbose"] === true,
    color: values["no-color"] !== true,
    progress: values["no-progress"] ? false : values["progress"] ? true : undefined,
    timeoutMs: milliseconds("--timeout", text(values, "timeout")),
    era: oneOf("--era", ERAS, text(values, "era")),
    logLevel: level as LoggingLevel | undefined,
    args: text(values, "args"),
    out: text(values, "out"),
    to: text(values, "to"),
    external: texts(values, "external"),
    measure: values["no-measure"] !== true,
    answers: texts(values, "answer").map(readAnswer),
    answersFile: text(values, "answers"),
    decline: values["decline"] === true,
    ask: values["no-ask"] !== true,
    open: values["no-open"] !== true,
    roots: texts(values, "root"),
    scopes: texts(values, "scope"),
    clientId: text(values, "client-id"),
    issuer: text(values, "issuer"),
    clientMetadata: text(values, "client-metadata"),
    port: port(text(values, "port")),
    again: values["again"] === true,
    strict: values["strict"] === true,
    format,
    baseline: text(values, "baseline"),
    writeBaseline: text(values, "write-baseline"),
    onlyRules: texts(values, "rule"),
    skipRules: texts(values, "skip"),
    allowWrites: texts(values, "allow-writes"),
    tokens: texts(values, "token").map(readToken),
    measuring: readMeasuring(values, versus),
    copy: oneOf("--copy", COPY_FORMS, text(values, "copy")),
    context: texts(values, "context").map(readSetting),
    resources: texts(values, "resource"),
    lists: texts(values, "list").map((name) => oneOf("--list", LIST_NAMES, name) as ListName),
    forMs: milliseconds("--for", text(values, "for")),
    count: count(text(values, "count")),
    file: text(values, "file"),
    asIs: values["as-is"] === true,
    ignore: texts(values, "ignore"),
  };
}

function oneOf<Name extends string>(
  option: string,
  names: readonly Name[],
  given: string | undefined,
): Name | undefined {
  if (given === undefined || names.includes(given as Name)) return given as Name | undefined;
  throw optionError(option, `expected ${names.join(", ")}, got ${JSON.stringify(given)}`);
}

function readSetting(given: string): [name: string, value: string] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  throw optionError("--context", `expected NAME=VALUE, got ${JSON.stringify(given)}`);
}

function count(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,9}$/.test(given) && Number(given) > 0) return Number(given);
  throw optionError("--count", `expected a whole number above 0, got ${JSON.stringify(given)}`);
}

/** What follows the name is a secret, and stays out of messages. */
function readToken(given: string): readonly [name: string, value: string] {
  const at = given.indexOf("=");
  const name = given.slice(0, Math.max(at, 0));
  if (!TOKENS.includes(name) || at === given.length - 1) {
    throw optionError("--token", `expected NAME=VALUE with one of the names ${TOKENS.join(", ")}`);
  }
  return [name, given.slice(at + 1)];
}

function port(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d+$/.test(given) && Number(given) > 0 && Number(given) < 65_536) return Number(given);
  throw optionError("--port", `expected a port from 1 to 65535, got ${JSON.stringify(given)}`);
}

function milliseconds(option: string, seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const value = Number(seconds);
  if (/^\d+(\.\d+)?$/.test(seconds) && value > 0) return Math.ceil(value * 1000);
  throw optionError(option, `expected a number of seconds above 0, got ${JSON.stringify(seconds)}`);
}
