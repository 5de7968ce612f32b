/** Answers that are given beforehand, for questions that a server may ask: on the command line, or in a file. */
import { type Pair, readPair } from "./argument-pairs.js";
import { isObject, shown } from "./json.js";
import { UsageError } from "./usage-error.js";

export const ACTIONS = ["accept", "decline", "cancel"] as const;
export type Action = (typeof ACTIONS)[number];

/** An answer to one question, as a file has it. */
export interface WholeAnswer {
  readonly action: Action;
  readonly content: Readonly<Record<string, unknown>>;
  /** Whether fields that it leaves out get the form's defaults. */
  readonly withDefaults: boolean;
}

export interface GivenAnswers {
  /** `key.field=value`, `key.field:=json` or `key=action`; where the key ends is known once it is asked. */
  readonly pairs: readonly Pair[];
  readonly whole: ReadonlyMap<string, WholeAnswer>;
  /** Whether every other question is declined. */
  readonly declineOthers: boolean;
}

export function readAction(value: unknown): Action | undefined {
  return ACTIONS.find((action) => action === value);
}

/**
 * Reads one answer of the command line.
 *
 * @throws UsageError
 * @example readAnswer("when.startsAt=2026-07-28T09:00:00Z")
 * @example readAnswer("when=decline")
 */
export function readAnswer(given: string): Pair {
  const pair = given.includes("=") ? readPair(given) : undefined;
  if (pair !== undefined && (pair.name.includes(".") || (!pair.raw && readAction(pair.text)))) return pair;
  throw problem(
    "--answer",
    `expected KEY.FIELD=VALUE, KEY.FIELD:=JSON or KEY=accept|decline|cancel, got ${JSON.stringify(given)}`,
  );
}

/**
 * Reads the answers of a file: by key an action with content, an action alone, or the content alone.
 *
 * @param from Names the file in messages.
 * @throws UsageError
 * @example readAnswers('{ "when": { "startsAt": "2026-07-28T09:00:00Z" }, "pay": "decline" }', "answers.json")
 */
export function readAnswers(json: string, from: string): Map<string, WholeAnswer> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw problem("--answers", `expected JSON in ${from}: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw problem("--answers", `expected a JSON object in ${from}, got ${shown(value)}`);
  return new Map(Object.entries(value).map(([key, answer]) => [key, readWhole(key, answer)]));
}

function readWhole(key: string, answer: unknown): WholeAnswer {
  const alone = readAction(answer);
  if (alone !== undefined) return { action: alone, content: {}, withDefaults: true };
  if (isObject(answer)) {
    const action = readAction(answer["action"]);
    const { content = {}, ...rest } = answer;
    // A form may have a field called "action".
    if (action === undefined || Object.keys(rest).length > 1)
      return { action: "accept", content: answer, withDefaults: true };
    if (isObject(content)) return { action, content, withDefaults: answer["content"] === undefined };
    throw problem("--answers", `${key}.content: expected an object, got ${shown(content)}`);
  }
  const expected = 'an object, "accept", "decline" or "cancel"';
  throw problem("--answers", `${key}: expected ${expected}, got ${shown(answer)}`);
}

function problem(path: string, message: string): UsageError {
  return new UsageError(`${path}: ${message}`, [{ path, message }]);
}
