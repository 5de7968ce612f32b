/** HTTP+SSE against hand-written servers (2024-11-05, basic/transports, HTTP with SSE). */
import type { ServerResponse } from "node:http";
import { describe, expect, it, vi } from "vitest";
import type { McpError } from "../../../src/protocol/errors.js";
import { endpoint, open, plain, type Received, type Respond, type Stream, stream } from "./old-http.js";
import { textOf } from "./old-server.js";

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error as McpError,
  );

interface Old {
  readonly respond: Respond;
  readonly streams: Stream[];
}

/** A server that answers on its latest stream. */
function old(
  place: (count: number) => string | undefined = (count) => `message?session=${count}`,
  answer?: (received: Received, response: ServerResponse, streams: Stream[]) => unknown,
): Old {
  const streams: Stream[] = [];
  return {
    streams,
    respond: (received, response) => {
      const { verb, url, body } = received;
      if (verb === "GET") {
        const events = stream(response);
        streams.push(events);
        const target = place(streams.length);
        if (target !== undefined) events.raw(`event: endpoint\ndata: ${target}\n\n`);
        return undefined;
      }
      if (!url.includes("message")) return plain(response, 404);
      if (answer?.(received, response, streams) === true) return undefined;
      response.writeHead(202).end("Accepted");
      const { id, method } = body;
      if (id === undefined || method === undefined) return undefined;
      const result =
        method === "initialize"
          ? {
              protocolVersion: "2024-11-05",
              capabilities: { tools: {} },
              serverInfo: { name: "old", version: "1" },
            }
          : { content: [{ type: "text", text: method }], tools: [] };
      return streams.at(-1)?.send({ jsonrpc: "2.0", id, result });
    },
  };
}

it("is the last resort, and from then on the first", async () => {
  const { respond, streams } = old();
  const server = await endpoint(respond, "/a/sse");
  const client = await open({ url: server.url, headers: { "X-Team": "a" } });
  expect(client.era).toEqual({
    era: "legacy",
    revision: "2024-11-05",
    branch: "http_status",
    saw: [
      expect.stringMatching(/\(server\/discover\) answered HTTP 404/),
      expect.stringMatching(/^POST of initialize: .*HTTP 404/),
      "initialize: 2024-11-05 (HTTP+SSE, with messages to /a/message)",
    ],
  });
  expect(textOf(await client.callTool("t"))).toBe("tools/call");
  expect(server.posted).toEqual([
    "server/discover",
    "initialize",
    "initialize",
    "notifications/initialized",
    "tools/call",
  ]);
  expect(server.received.map(({ headers }) => headers["x-team"])).toEqual(Array(6).fill("a"));
  expect(server.of("tools/call")[0]?.url).toBe("/a/message?session=1");
  expect(server.of("tools/call")[0]?.headers).not.toHaveProperty("mcp-protocol-version");
  await client.close();

  const again = await open(server.url);
  expect(again.era).toMatchObject({ branch: "remembered", saw: [expect.stringContaining("HTTP+SSE")] });
  expect(server.posted.slice(5)).toEqual(["initialize", "notifications/initialized"]);
  expect(streams).toHaveLength(2);
});

it("asks, and is answered", async () => {
  let call: Received;
  const { respond, streams } = old(undefined, (received, response) => {
    const { method } = received.body;
    if (method !== "tools/call" && method !== undefined) return false;
    response.writeHead(202).end();
    if (method === "tools/call") {
      call = received;
      streams[0]?.send({ jsonrpc: "2.0", id: 1, method: "roots/list" });
      return true;
    }
    const text = JSON.stringify(received.body["result"]);
    streams[0]?.send({ jsonrpc: "2.0", id: call.body.id, result: { content: [{ type: "text", text }] } });
    return true;
  });
  const server = await endpoint(respond);
  const client = await open(server.url, { roots: [{ uri: "file:///a" }] });
  expect(textOf(await client.callTool("t"))).toBe('{"roots":[{"uri":"file:///a"}]}');
});

describe("the place for messages", () => {
  it("is never at another origin", async () => {
    const other = await endpoint((_, response) => plain(response, 500));
    for (const place of [
      `${other.url}/message`,
      "https://127.0.0.1/message",
      "//example.com/message",
      "http://[",
      "data:x",
    ]) {
      const server = await endpoint(old(() => place).respond);
      const error = await failure(open(server.url));
      expect(error.message).toContain(`expected an endpoint of http://127.0.0.1`);
      expect(error.message).toContain(JSON.stringify(place));
      expect(server.of("GET")).toHaveLength(1);
    }
    expect(other.received).toEqual([]);
  });

  it("may be a whole URL of the same origin", async () => {
    const server = await endpoint(old(() => `${new URL(server.url).origin}/message`).respond);
    const client = await open(server.url);
    expect(textOf(await client.callTool("t"))).toBe("tools/call");
  });

  it("is waited for, but not for ever", async () => {
    const server = await endpoint(old(() => undefined).respond);
    await expect(open(server.url, { limits: { timeoutMs: 300 } })).rejects.toMatchObject({ code: "timeout" });
    const controller = new AbortController();
    const connecting = open(server.url, { signal: controller.signal });
    await vi.waitFor(() => expect(server.of("GET")).toHaveLength(2));
    controller.abort();
    await expect(connecting).rejects.toMatchObject({ code: "aborted" });
    const ending = await endpoint(({ verb }, response) =>
      verb === "GET" ? stream(response).end() : plain(response, 404),
    );
    await expect(open(ending.url)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringContaining("has ended"),
    });
  });
});

describe("a session", () => {
  it("ends with its stream, and the next request begins another one", async () => {
    const { respond, streams } = old(undefined, ({ body }, response) => {
      if (body.method !== "tools/call" || body.params?.["name"] !== "hang") return false;
      response.writeHead(202).end();
      return true;
    });
    const server = await endpoint(respond);
    const client = await open(server.url);
    const hanging = failure(client.callTool("hang"));
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(1));
    streams[0]?.end();
    expect(await hanging).toMatchObject({ code: "connection_lost" });
    expect(textOf(await client.callTool("t"))).toBe("tools/call");
    expect(server.of("tools/call").at(-1)?.url).toContain("session=2");
  });

  it("that the server does not know any more is made again, and the request sent again", async () => {
    const { respond } = old(undefined, ({ body, url }, response) => {
      if (body.method !== "tools/call" || !url.includes("session=1")) return false;
      plain(response, 404, "Session not found");
      return true;
    });
    const server = await endpoint(respond);
    const client = await open(server.url);
    expect(textOf(await client.callTool("t"))).toBe("tools/call");
    expect(server.of("tools/call").map(({ url }) => url)).toEqual([
      "/message?session=1",
      "/message?session=2",
    ]);
  });

  it("goes on where one message is refused", async () => {
    const { respond } = old(undefined, ({ body }, response) => {
      if (body.method !== "tools/call") return false;
      plain(response, 413, "too large");
      return true;
    });
    const server = await endpoint(respond);
    const client = await open(server.url);
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "invalid_response",
      cause: { status: 413 },
    });
    expect((await client.listTools()).tools).toEqual([]);
    expect(server.of("GET")).toHaveLength(1);
  });
});
