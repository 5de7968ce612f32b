/** Judging a result: its type (basic, ResultType), and the least shape that each method's result must have. */
import { McpError } from "../protocol/errors.js";
import { isObject } from "../protocol/jsonrpc.js";
import { METHODS } from "../protocol/methods.js";
import type { Result } from "../protocol/types.js";
import { shown } from "./exchange.js";

/**
 * Whether a result is final, asks for input, or is a task in its place. An absent type means `complete`.
 *
 * @throws McpError `invalid_response` where the type is unknown, or the method must not ask for input.
 */
export function resultType(method: string, result: Result): "complete" | "input_required" | "task" {
  const type: unknown = result.resultType;
  if (type === undefined || type === "complete") return "complete";
  // The one method that the extension supports (SEP-2663, Supported Methods).
  if (type === "task" && method === "tools/call") return "task";
  if (type !== "input_required") {
    const expected = 'expected "complete" or "input_required"';
    throw new McpError("invalid_response", `${method}: unknown resultType ${shown(type)}; ${expected}`);
  }
  // Methods of extensions may ask as their extension says.
  if (METHODS.get(method)?.mayAskForInput === false) {
    throw new McpError(
      "invalid_response",
      `${method}: the server answered input_required, which this method does not allow`,
    );
  }
  return "input_required";
}

type Check = (result: Result) => string | undefined;

const array = (result: Record<string, unknown>, name: string, path = name): string | undefined =>
  Array.isArray(result[name]) ? undefined : `"${path}" to be an array, got ${shown(result[name])}`;

const strings = (result: Record<string, unknown>, name: string, path = name): string | undefined => {
  const list = result[name];
  if (Array.isArray(list) && list.every((item) => typeof item === "string")) return undefined;
  return `"${path}" to be an array of strings, got ${shown(list)}`;
};

const page =
  (name: string): Check =>
  (result) => {
    const cursor = result["nextCursor"];
    if (cursor !== undefined && cursor !== null && typeof cursor !== "string") {
      return `"nextCursor" to be a string, got ${shown(cursor)}`;
    }
    return array(result, name);
  };

const CHECKS = new Map<string, Check>([
  [
    "server/discover",
    (result) =>
      strings(result, "supportedVersions") ??
      (isObject(result["capabilities"])
        ? undefined
        : `"capabilities" to be an object, got ${shown(result["capabilities"])}`),
  ],
  ["tools/list", page("tools")],
  ["resources/list", page("resources")],
  ["resources/templates/list", page("resourceTemplates")],
  ["prompts/list", page("prompts")],
  ["tools/call", (result) => array(result, "content")],
  ["resources/read", (result) => array(result, "contents")],
  ["prompts/get", (result) => array(result, "messages")],
  [
    "completion/complete",
    (result) => {
      const completion = result["completion"];
      if (!isObject(completion)) return `"completion" to be an object, got ${shown(completion)}`;
      return strings(completion, "values", "completion.values");
    },
  ],
]);

/** @throws McpError `invalid_response` naming what was expected. */
export function checkShape(method: string, result: Result): void {
  const problem = CHECKS.get(method)?.(result);
  if (problem !== undefined) throw new McpError("invalid_response", `${method}: expected ${problem}`);
}
