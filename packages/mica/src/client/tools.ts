/**
 * What a client knows of a server's tools: which arguments to mirror into headers (transports/streamable-http,
 * Client Behavior) and what their structured output must look like (server/tools, Output Schema).
 */
import { ErrorCode, McpError } from "../protocol/errors.js";
import type { CallToolResult, Tool } from "../protocol/features.js";
import type { Result } from "../protocol/types.js";
import { checkJsonSchema } from "../schema/check.js";
import { type HeaderParam, headerParams, mirrorArguments } from "../schema/header-params.js";
import type { JsonSchemaValidator } from "../schema/json-schema.js";
import { describeProblems } from "../schema/validate.js";
import { whileWanted } from "./deadline.js";
import { rpcCodeOf, type Send, shown } from "./exchange.js";
import type { Collected } from "./lists.js";
import type { Warn } from "./warnings.js";

export interface KnownTools {
  /** Takes note of tools that were listed; `whole` where they are all there are. */
  learn(listed: Collected, whole: boolean): void;
  /** The list has changed: nothing is known any more. */
  forget(): void;
  /** Sends a `tools/call`, with its arguments mirrored where the transport does that. */
  readonly send: Send;
  /**
   * Undefined where there is nothing to check.
   *
   * @throws McpError `invalid_response` where structured output does not fit the schema that the tool declares.
   */
  checkOutput(
    name: string,
    result: CallToolResult,
    signal: AbortSignal | undefined,
  ): Promise<void> | undefined;
}

export interface KnownToolsOptions {
  readonly mirrors: boolean;
  readonly send: Send;
  /** Lists all tools, which ends in {@link KnownTools.learn}. */
  readonly list: (fresh: boolean) => Promise<unknown>;
  readonly warn: Warn;
}

interface Definition {
  readonly tool: Tool;
  readonly headers: readonly HeaderParam[];
  validator?: Promise<JsonSchemaValidator | undefined>;
}

const NONE: readonly HeaderParam[] = [];

export function createKnownTools({ mirrors, send, list, warn }: KnownToolsOptions): KnownTools {
  let definitions = new Map<string, Definition>();
  let refused = new Map<string, string>();
  let complete = false;
  let loading: Promise<unknown> | undefined;

  /** One listing at a time, shared by all calls that wait for it. */
  const load = (fresh: boolean) => {
    loading ??= list(fresh).finally(() => {
      loading = undefined;
    });
    // Whoever waits sees the failure; it may be that nobody does any more.
    loading.catch(() => {});
    return loading;
  };

  const isKnown = (name: string) => complete || definitions.has(name);

  const becomeKnown = (name: string, signal: AbortSignal | undefined) =>
    whileWanted(load(false), "tools/call", signal).catch((error: unknown) => {
      if (rpcCodeOf(error) === undefined) throw error;
      warn(
        "headers_unknown",
        `The arguments of tool ${shown(name)} are not mirrored into headers: ${(error as Error).message}`,
        error,
      );
    });

  const mirrored = (params: Record<string, unknown>) => {
    const name = params["name"] as string;
    const reason = refused.get(name);
    if (reason !== undefined) {
      throw new McpError(
        "invalid_response",
        `Tool ${shown(name)} cannot be called over this transport, because its definition is invalid: ${reason}`,
      );
    }
    return mirrorArguments(definitions.get(name)?.headers ?? NONE, params["arguments"]);
  };

  const sendMirrored: Send = async (method, params, options) => {
    const { signal } = options;
    const name = params["name"] as string;
    if (!isKnown(name)) await becomeKnown(name, signal);
    try {
      return await send(method, params, { ...options, mirrored: mirrored(params) });
    } catch (error) {
      if (rpcCodeOf(error) !== ErrorCode.HeaderMismatch) throw error;
      // "The client SHOULD call `tools/list` to check for changes [...], then retry the original request."
      await whileWanted(load(true), method, signal).catch(() => Promise.reject(error));
      return send(method, params, { ...options, mirrored: mirrored(params) });
    }
  };

  const checkNow = async (
    before: Definition,
    name: string,
    result: CallToolResult,
    signal: AbortSignal | undefined,
  ) => {
    if ((await outputProblem(before, result, warn)) === undefined) return;
    // What is known of the tool may be out of date; only its current schema can be held against it.
    await whileWanted(
      load(true).catch(() => undefined),
      "tools/call",
      signal,
    );
    const current = definitions.get(name);
    const problem = current && (await outputProblem(current, result, warn));
    if (problem !== undefined) {
      throw new McpError(
        "invalid_response",
        `The structured output of tool ${shown(name)} does not fit its output schema: ${problem}`,
      );
    }
  };

  return {
    learn({ entries, leftOut }, whole) {
      if (whole) {
        definitions = new Map();
        refused = new Map();
        complete = true;
      }
      for (const tool of entries as unknown as Tool[]) {
        const headers = mirrors ? (headerParams(tool.inputSchema).params ?? []) : [];
        definitions.set(tool.name, { tool, headers });
        refused.delete(tool.name);
      }
      for (const { name, reason } of leftOut) {
        if (name !== "" && !definitions.has(name)) refused.set(name, reason);
      }
    },
    forget() {
      definitions = new Map();
      refused = new Map();
      complete = false;
    },
    send: (method, params, options) =>
      mirrors && typeof params["name"] === "string"
        ? sendMirrored(method, params, options)
        : send(method, params, options),
    checkOutput(name, result, signal) {
      const known = definitions.get(name);
      return known?.tool.outputSchema === undefined ? undefined : checkNow(known, name, result, signal);
    },
  };
}

async function outputProblem(
  definition: Definition,
  result: Result,
  warn: Warn,
): Promise<string | undefined> {
  const { tool } = definition;
  if (tool.outputSchema === undefined || result["isError"] === true) return undefined;
  definition.validator ??= compileOutput(tool, warn);
  const validator = await definition.validator;
  if (validator === undefined) return undefined;
  if (result["structuredContent"] === undefined) return "structuredContent is missing";
  try {
    const problems = validator(result["structuredContent"]);
    return problems.length ? describeProblems(problems) : undefined;
  } catch (cause) {
    definition.validator = Promise.resolve(undefined);
    unchecked(tool, warn, cause);
    return undefined;
  }
}

/** A schema that cannot be used is the server's mistake, and no reason to lose a result. */
async function compileOutput(tool: Tool, warn: Warn): Promise<JsonSchemaValidator | undefined> {
  try {
    checkJsonSchema(tool.outputSchema, "outputSchema");
    const { compileJsonSchema } = await import("../schema/json-schema.js");
    return compileJsonSchema(tool.outputSchema as NonNullable<Tool["outputSchema"]>);
  } catch (cause) {
    unchecked(tool, warn, cause);
    return undefined;
  }
}

function unchecked(tool: Tool, warn: Warn, cause: unknown): void {
  const why = cause instanceof Error ? cause.message : String(cause);
  warn("output_unchecked", `The output of tool ${shown(tool.name)} is not checked: ${why}`, cause);
}
