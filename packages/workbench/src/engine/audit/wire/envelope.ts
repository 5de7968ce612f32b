/** Well-formed messages of either era, and the headers that go with them over HTTP. */

import { METHODS } from "mica-mcp/testing";
import { isObject } from "../../json.js";
import { CLIENT_INFO, LEGACY_REVISION, META, requestMeta } from "../../request-meta.js";
import type { Era, Members, Request } from "../audited.js";

export function requestOf(
  id: number | string,
  method: string,
  params: Members,
  { era, revision }: { era: Era; revision: string },
): Request {
  if (era === "legacy") {
    return { jsonrpc: "2.0", id, method, ...(Object.keys(params).length > 0 && { params }) };
  }
  const own = isObject(params["_meta"]) ? params["_meta"] : {};
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...requestMeta(revision), ...own } } };
}

export function initializeRequest(id: number | string, revision = LEGACY_REVISION): Request {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT_INFO };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}

export const INITIALIZED: Members = { jsonrpc: "2.0", method: "notifications/initialized" };

/** The headers of a POST. `tools` are the definitions that say which arguments are mirrored. */
export function standardHeaders(
  message: unknown,
  {
    era,
    revision,
    session,
    tools,
  }: { era: Era; revision: string; session: string | undefined; tools: readonly Members[] },
): Record<string, string> {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  };
  const method = isObject(message) ? message["method"] : undefined;
  if (era === "legacy") {
    if (method === "initialize") return headers;
    headers["MCP-Protocol-Version"] = revision;
    if (session !== undefined) headers["Mcp-Session-Id"] = session;
    return headers;
  }
  if (!isObject(message)) return headers;
  const params = isObject(message["params"]) ? message["params"] : {};
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  const version = meta[META.version];
  headers["MCP-Protocol-Version"] = typeof version === "string" ? headerValue(version) : revision;
  if (typeof method === "string") headers["Mcp-Method"] = headerValue(method);
  // Standard Request Headers (transports/streamable-http).
  const { nameParam } = METHODS.get(String(method)) ?? {};
  const name = nameParam && params[nameParam];
  if (typeof name === "string") headers["Mcp-Name"] = headerValue(name);
  if (method === "tools/call") {
    const tool = tools.find((one) => one["name"] === name);
    mirror(tool?.["inputSchema"], params["arguments"], headers);
  }
  return headers;
}

/** Arguments with `x-mcp-header`, by the chain of `properties` that leads to them. */
function mirror(schema: unknown, value: unknown, headers: Record<string, string>): void {
  if (!isObject(schema) || !isObject(schema["properties"]) || !isObject(value)) return;
  for (const [name, property] of Object.entries(schema["properties"])) {
    if (!isObject(property) || !Object.hasOwn(value, name)) continue;
    const given = value[name];
    const header = property["x-mcp-header"];
    const isPrimitive = ["string", "number", "boolean"].includes(typeof given);
    if (typeof header === "string" && isPrimitive)
      headers[`Mcp-Param-${header}`] = headerValue(String(given));
    mirror(property, given, headers);
  }
}

/** A value as it may stand in a header (transports/streamable-http, Value Encoding). */
function headerValue(value: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) || value === "";
  const isSentinel = value.startsWith("=?base64?") && value.endsWith("?=");
  return isPlain && !isSentinel ? value : encodedValue(value);
}

export function encodedValue(value: string): string {
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
