/** Arguments as they are typed: `name=value`, `user.name=value`, and `name:=json` for a value as it is. */
import { UsageError } from "./usage-error.js";

export interface Pair {
  /** The argument, or a member of one: `user.name`. */
  readonly name: string;
  readonly text: string;
  /** Whether `text` is JSON that is sent as it is, whatever the schema says. */
  readonly raw: boolean;
}

/**
 * Reads one operand. Only the first `=` counts, so that a value may hold any number of them.
 *
 * @throws UsageError where it is no pair.
 * @example readPair("limit=5") // { name: "limit", text: "5", raw: false }
 */
export function readPair(operand: string): Pair {
  const at = operand.indexOf("=");
  const raw = at > 0 && operand[at - 1] === ":";
  const name = operand.slice(0, raw ? at - 1 : at);
  if (at < 0 || name === "") {
    const message = `expected name=value or name:=json, got ${JSON.stringify(operand)}`;
    throw new UsageError(message, [{ path: operand, message }]);
  }
  return { name, text: operand.slice(at + 1), raw };
}
