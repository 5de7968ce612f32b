/** Results and errors of the server, as an initialize-era client expects them. */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { isObject } from "../protocol/jsonrpc.js";
import { MetaKey } from "../protocol/meta.js";
import type { ErrorObject, JSONRPCRequest, Result, ServerCapabilities } from "../protocol/types.js";
import { blockFor, contentFor, withoutUnknown } from "./content.js";
import type { Revision } from "./versions.js";

type Members = Record<string, unknown>;

/** "Resource not found" (2025-11-25, server/resources, Error Handling); the current revision has -32602 for it. */
export const RESOURCE_NOT_FOUND = -32002;

const BY_METHOD: Record<string, (result: Members, revision: Revision) => Members> = {
  "tools/list": (result, revision) => ({ ...result, tools: each(result["tools"], revision, toolFor) }),
  "tools/call": toolResultFor,
  "resources/list": (result, revision) => ({
    ...result,
    resources: each(result["resources"], revision, withoutUnknown),
  }),
  "resources/templates/list": (result, revision) => ({
    ...result,
    resourceTemplates: each(result["resourceTemplates"], revision, withoutUnknown),
  }),
  "resources/read": (result, revision) => ({
    ...result,
    contents: each(result["contents"], revision, withoutUnknown),
  }),
  "prompts/list": (result, revision) => ({
    ...result,
    prompts: each(result["prompts"], revision, promptFor),
  }),
  "prompts/get": (result, revision) => ({
    ...result,
    messages: each(result["messages"], revision, (message) => ({
      ...withoutUnknown(message, revision),
      content: blockFor(message["content"], revision),
    })),
  }),
};

/**
 * A complete result without what later revisions added to every result, and with what it holds translated.
 *
 * @throws ProtocolError -32603 where the result is of a type that an earlier revision cannot express.
 */
export function resultFor(method: string, result: Result, revision: Revision): Result {
  const { resultType = "complete", ttlMs: _, cacheScope: __, _meta: meta, ...rest } = result;
  if (resultType !== "complete") {
    throw new ProtocolError(
      ErrorCode.InternalError,
      `The result of ${method} is of type ${JSON.stringify(resultType)}, which MCP ${revision.version} does not have`,
    );
  }
  if (isObject(meta)) {
    const { [MetaKey.serverInfo]: _, ...own } = meta;
    if (Object.keys(own).length > 0) rest["_meta"] = own;
  }
  const translate = Object.hasOwn(BY_METHOD, method) ? BY_METHOD[method] : undefined;
  return translate === undefined ? rest : translate(rest, revision);
}

function each(list: unknown, revision: Revision, map: (item: Members, revision: Revision) => Members) {
  return Array.isArray(list) ? list.filter(isObject).map((item) => map(item, revision)) : [];
}

/** A tool as a revision can list it, in `tools/list` and in sampling. */
export function toolFor(tool: Members, revision: Revision): Members {
  const { inputSchema, outputSchema, annotations, ...known } = withoutUnknown(tool, revision);
  const translated: Members = { ...known, inputSchema: objectSchemaFor(inputSchema) };
  if (revision.structured && isObject(outputSchema) && outputSchema["type"] === "object") {
    translated["outputSchema"] = objectSchemaFor(outputSchema);
  }
  const hints = revision.toolAnnotations ? hintsFor(tool, annotations, revision) : undefined;
  if (hints !== undefined) translated["annotations"] = hints;
  return translated;
}

/** Before tools had titles, their annotations had. */
function hintsFor(tool: Members, annotations: unknown, { unknownMembers }: Revision): unknown {
  const { title } = tool;
  if (title === undefined || !unknownMembers.includes("title")) return annotations;
  return { title, ...(isObject(annotations) && annotations) };
}

/** Earlier revisions require properties to be objects; `true` and `false` are schemas since. */
function objectSchemaFor(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema["properties"])) return schema;
  const entries = Object.entries(schema["properties"]);
  if (entries.every(([, property]) => isObject(property))) return schema;
  const properties = entries.map(([name, property]) => [
    name,
    isObject(property) ? property : property === false ? { not: {} } : {},
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function toolResultFor(result: Members, revision: Revision): Members {
  const { structuredContent, content: blocks, ...rest } = result;
  const content = contentFor(blocks, revision);
  if (structuredContent === undefined) return { ...rest, content };
  if (revision.structured && isObject(structuredContent)) return { ...rest, content, structuredContent };
  // Nothing else would be left of a result that was given as data alone.
  const isSaid = content.some((block) => isObject(block) && block["type"] === "text");
  return {
    ...rest,
    content: isSaid ? content : [...content, { type: "text", text: JSON.stringify(structuredContent) }],
  };
}

function promptFor(prompt: Members, revision: Revision): Members {
  const known = withoutUnknown(prompt, revision);
  return Array.isArray(known["arguments"])
    ? { ...known, arguments: each(known["arguments"], revision, withoutUnknown) }
    : known;
}

/** What a server may be asked for in this revision. `stateless`: no notification of a change can be sent. */
export function serverCapabilitiesFor(
  { experimental, logging, completions, prompts, resources, tools }: ServerCapabilities,
  revision: Revision,
  stateless: boolean,
): Members {
  const offered: Members = {};
  if (experimental !== undefined) offered["experimental"] = experimental;
  if (logging !== undefined) offered["logging"] = logging;
  if (completions !== undefined && revision.completions) offered["completions"] = completions;
  for (const [name, capability] of Object.entries({ prompts, resources, tools })) {
    if (capability !== undefined) offered[name] = stateless ? {} : capability;
  }
  return offered;
}

/** Name and version of the server, from the `_meta` of any of its results. */
export function serverInfoFor(meta: unknown, revision: Revision): Members {
  const info = isObject(meta) ? meta[MetaKey.serverInfo] : undefined;
  const known: Members = { name: "unnamed", version: "0" };
  if (!isObject(info)) return known;
  for (const member of revision.identity) if (info[member] !== undefined) known[member] = info[member];
  return known;
}

/**
 * An error under the code that earlier revisions have for it. Codes that only modern servers send must not reach a
 * legacy client: one that speaks both eras would take the server for a modern one (basic/versioning).
 */
export function errorFor(error: ErrorObject, { method, params }: JSONRPCRequest): ErrorObject {
  const { code, data } = error;
  if (code === ErrorCode.InvalidParams && method === "resources/read") {
    const isMissing = isObject(data) && data["uri"] === params?.["uri"];
    return isMissing ? { ...error, code: RESOURCE_NOT_FOUND } : error;
  }
  const isModern = code <= ErrorCode.HeaderMismatch && code >= ErrorCode.UnsupportedProtocolVersion;
  return isModern ? { ...error, code: ErrorCode.InternalError } : error;
}
