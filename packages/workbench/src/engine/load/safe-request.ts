/** What may be sent again and again: only what changes nothing, unless it is said otherwise, and only to this machine. */
import type { CallOptions, Client } from "mica-mcp/client";
import type { GivenArguments } from "../arguments.js";
import { prepareCall } from "../call.js";
import type { Target } from "../target.js";
import { UsageError } from "../usage-error.js";
import type { LoadRequest } from "./client-sender.js";

export interface LoadSubject extends LoadRequest {
  readonly tool: string | null;
  /** Whether more requests than asked for do no harm. */
  readonly isReadOnly: boolean;
}

/** Methods that change nothing. */
const READING = [
  "server/discover",
  "ping",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
];

/** @throws UsageError where the host of a URL is not this machine. */
export function checkLocal(target: Target, allowRemote: boolean): void {
  if (target.kind === "command" || allowRemote) return;
  const { hostname } = new URL(target.url);
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname)) return;
  throw refusal(
    "--allow-remote",
    `load may harm others, so that it goes to this machine only; ${hostname} is another, and --allow-remote says that you may`,
  );
}

/**
 * @param allowed Tools and methods that may be sent although they are not known to change nothing.
 * @throws UsageError where none is named, or it may change something.
 */
export async function safeRequest(
  client: Client,
  {
    tool,
    method,
    given,
    allowed,
  }: {
    readonly tool: string | undefined;
    readonly method: string | undefined;
    readonly given: GivenArguments;
    readonly allowed: readonly string[];
  },
  call: CallOptions,
): Promise<LoadSubject> {
  if ((tool === undefined) === (method === undefined)) {
    throw refusal("TOOL", "expected a tool to call, or else --method with a method to send");
  }
  if (method !== undefined) {
    if (method === "tools/call")
      throw refusal("--method", "a tool is called by its name: mica load TARGET TOOL");
    if (given.pairs.length > 0) throw refusal("--method", "takes its parameters from --args");
    const isReadOnly = READING.includes(method);
    if (!isReadOnly && !allowed.includes(method)) {
      throw refusal(
        "--method",
        `${method} may change something; --allow-writes ${method} sends it all the same`,
      );
    }
    return { method, params: given.base ?? {}, tool: null, isReadOnly };
  }
  const name = tool as string;
  const prepared = await prepareCall(client, name, given, call);
  const isReadOnly = prepared.tool.annotations?.readOnlyHint === true;
  if (!isReadOnly && !allowed.includes(name)) {
    throw refusal(
      "TOOL",
      `${name} is not annotated as read-only (readOnlyHint), and would be called very often; --allow-writes ${name} calls it all the same`,
    );
  }
  return { method: "tools/call", params: { name, arguments: prepared.args }, tool: name, isReadOnly };
}

function refusal(path: string, message: string): UsageError {
  return new UsageError(`${path}: ${message}`, [{ path, message }]);
}
