/**
 * What an HTTP wire has to remember so that messages written by hand arrive: the headers that a message needs, the
 * session of an earlier revision (2025-11-25, transports, Session Management), and the schemas that headers come from.
 */
import { httpHeaders } from "mica-mcp/testing";
import { isObject, readJson } from "./json.js";

/** Schemas of tools that are kept, at most. */
const MOST_TOOLS = 10_000;

export interface HttpSession {
  /** The headers for a text, those of the session included. What is no message gets only what every POST needs. */
  headersFor(text: string): Record<string, string>;
  /** Headers of a request without a body. */
  sessionHeaders(): Record<string, string>;
  /** Takes note of an answer. */
  learn(sent: string, data: string, headers: Readonly<Record<string, unknown>>): void;
  /** Whether a server of an earlier revision was greeted. */
  readonly isEarlier: boolean;
  readonly id: string | undefined;
}

export function createHttpSession(): HttpSession {
  const schemas = new Map<string, Record<string, unknown>>();
  let id: string | undefined;
  let revision: string | undefined;

  const sessionHeaders = (): Record<string, string> => ({
    ...(revision !== undefined && { "MCP-Protocol-Version": revision }),
    ...(id !== undefined && { "Mcp-Session-Id": id }),
  });

  return {
    sessionHeaders,
    get isEarlier() {
      return revision !== undefined;
    },
    get id() {
      return id;
    },
    headersFor(text) {
      const message = readJson(text)?.value;
      const plain = {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...sessionHeaders(),
      };
      if (!isObject(message) || typeof message["method"] !== "string") return plain;
      const { method } = message;
      const params = isObject(message["params"]) ? message["params"] : undefined;
      // Earlier revisions know none of the headers that say what the body says.
      if (revision !== undefined || method === "initialize") return plain;
      const name = params?.["name"];
      const schema = method === "tools/call" && typeof name === "string" ? schemas.get(name) : undefined;
      try {
        return { ...plain, ...httpHeaders({ method, ...(params && { params: { ...params } }) }, schema) };
      } catch {
        // What cannot stand in a header is for the server to miss.
        return plain;
      }
    },
    learn(sent, data, headers) {
      const answer = readJson(data)?.value;
      const result = isObject(answer) && isObject(answer["result"]) ? answer["result"] : undefined;
      if (result === undefined) return;
      const request = readJson(sent)?.value;
      if (isObject(request) && request["method"] === "initialize") {
        const given = headers["mcp-session-id"];
        id = typeof given === "string" ? given : undefined;
        revision = typeof result["protocolVersion"] === "string" ? result["protocolVersion"] : undefined;
      }
      for (const tool of Array.isArray(result["tools"]) ? result["tools"] : []) {
        if (schemas.size >= MOST_TOOLS || !isObject(tool) || typeof tool["name"] !== "string") continue;
        if (isObject(tool["inputSchema"])) schemas.set(tool["name"], tool["inputSchema"]);
      }
    },
  };
}
