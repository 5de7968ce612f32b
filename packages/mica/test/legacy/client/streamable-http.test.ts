/** Streamable HTTP with sessions against hand-written servers (2025-03-26 to 2025-11-25, basic/transports). */
import type { ServerResponse } from "node:http";
import { describe, expect, it, vi } from "vitest";
import type { HttpStatusError } from "../../../src/http/status-error.js";
import type { McpError } from "../../../src/protocol/errors.js";
import {
  endpoint,
  json,
  open,
  plain,
  type Received,
  type Stream,
  stream,
  streamable,
  when,
} from "./old-http.js";
import { textOf } from "./old-server.js";

const HANDSHAKE = ["initialize", "notifications/initialized"];
const PROBE = "server/discover";
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error as McpError,
  );
const answerTo = ({ body: { id } }: Received, text = "ok") => ({
  jsonrpc: "2.0",
  id,
  result: { content: [{ type: "text", text }] },
});
const isCall = ({ body }: Received) => body.method === "tools/call";

describe("a server is legacy where it answers a modern request with", () => {
  const refusals: [string, (response: ServerResponse, received: Received) => unknown, string][] = [
    ...[400, 404, 405, 406, 410, 415, 422].map((status): (typeof refusals)[number] => [
      `HTTP ${status}`,
      (response) => plain(response, status, "go away"),
      "http_status",
    ]),
    ["HTTP 202, as if it were a notification", (response) => response.writeHead(202).end(), "http_status"],
    [
      "HTTP 400 and an error of its own",
      (response) =>
        json(response, { jsonrpc: "2.0", id: null, error: { code: -32000, message: "No session" } }, 400),
      "legacy_error",
    ],
    [
      "HTTP 200 and an error of its own",
      (response, { body: { id } }) =>
        json(response, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }),
      "legacy_error",
    ],
    [
      "a result of anything",
      (response, { body: { id } }) => json(response, { jsonrpc: "2.0", id, result: {} }),
      "legacy_result",
    ],
  ];
  it.each(refusals)("%s", async (_, refuse, branch) => {
    const server = await endpoint(
      streamable({
        respond: when(({ body }) => body.method === PROBE, refuse),
      }),
    );
    const client = await open(server.url);
    expect(client.era).toMatchObject({ era: "legacy", branch, revision: "2025-11-25" });
    expect(client.era.saw).toHaveLength(2);
    expect(textOf(await client.callTool("t"))).toBe("tools/call");
    expect(server.posted).toEqual([PROBE, ...HANDSHAKE, "tools/call"]);
  });

  it.each([401, 403, 429, 500, 503])("and not with HTTP %i", async (status) => {
    const server = await endpoint((_, response) => plain(response, status));
    await expect(open(server.url)).rejects.toMatchObject({ code: "connect_failed", cause: { status } });
    expect(server.posted).toEqual([PROBE]);
  });
});

describe("what is sent", () => {
  it.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", undefined],
  ])(
    "to a server of %s carries the session and %s as its version, and nothing of this revision",
    async (version, header) => {
      const server = await endpoint(streamable({ version, sessions: ["abc"] }));
      const client = await open({ url: server.url, headers: { "X-Team": "a" } });
      await client.callTool("t");
      await client.close();
      const [initialize, ...later] = server.received.slice(1);
      expect(server.posted).toEqual([PROBE, ...HANDSHAKE, "tools/call"]);
      expect(server.of("DELETE")).toHaveLength(1);
      expect(initialize?.headers).toMatchObject({
        accept: "application/json, text/event-stream",
        "x-team": "a",
      });
      expect(initialize?.headers).not.toHaveProperty("mcp-session-id");
      expect(initialize?.headers).not.toHaveProperty("mcp-protocol-version");
      for (const { headers, body } of later) {
        expect(headers).toMatchObject({ "mcp-session-id": "abc", "x-team": "a" });
        // The notification that ends the handshake follows the answer to it.
        if (body.method !== "notifications/initialized") expect(headers["mcp-protocol-version"]).toBe(header);
        expect(headers).not.toHaveProperty("mcp-method");
        expect(headers).not.toHaveProperty("mcp-name");
      }
      expect(server.of("GET")[0]?.headers).toMatchObject({ accept: "text/event-stream" });
      expect(client.era.saw.at(-1)).toBe(`initialize: ${version} (Streamable HTTP with a session)`);
    },
  );

  it("is nothing to a server whose session id could not be sent back", async () => {
    const server = await endpoint(streamable({ sessions: ["a b"] }));
    await expect(open(server.url)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringContaining("a session id that is not visible ASCII"),
    });
  });

  it("without a session says no goodbye, and with one waits for no answer to it", async () => {
    const without = await endpoint(streamable());
    await (await open(without.url)).close();
    expect(without.of("DELETE")).toEqual([]);
    const deaf = await endpoint(streamable({ sessions: ["abc"], respond: ({ verb }) => verb === "DELETE" }));
    await (await open(deaf.url)).close();
    expect(deaf.of("DELETE")).toHaveLength(1);
  });
});

describe("a session that the server has ended", () => {
  const gone = (status: number, body = "Session not found") =>
    streamable({
      sessions: ["1", "2", "3"],
      respond: (received, response) => {
        if (!isCall(received) || received.headers["mcp-session-id"] !== "1") return false;
        plain(response, status, body);
        return true;
      },
    });

  it.each([
    [404, ""],
    [400, "Bad Request: No valid session ID provided"],
  ])("with HTTP %i is made again, and requests are sent again", async (status, body) => {
    const server = await endpoint(gone(status, body));
    const client = await open(server.url);
    const results = await Promise.all([client.callTool("a"), client.callTool("b")]);
    expect(results.map(textOf)).toEqual(["tools/call", "tools/call"]);
    expect(server.of("initialize")).toHaveLength(2);
    await client.close();
    expect(server.of("DELETE").map(({ headers }) => headers["mcp-session-id"])).toEqual(["2"]);
  });

  it("is made again once, not for ever", async () => {
    const server = await endpoint(
      streamable({
        sessions: ["1", "2", "3"],
        respond: when(isCall, (response) => plain(response, 404)),
      }),
    );
    const client = await open(server.url);
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "connection_lost",
      cause: { status: 404 },
    });
    expect(server.of("initialize")).toHaveLength(2);
    expect(server.of("tools/call")).toHaveLength(2);
  });

  it("is not mistaken for another refusal", async () => {
    const server = await endpoint(gone(400, "Bad Request: no such thing"));
    const client = await open(server.url);
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "invalid_response",
      cause: { status: 400 },
    });
    expect(server.of("initialize")).toHaveLength(1);
  });

  it("while an answer was waited for loses the request", async () => {
    const server = await endpoint(
      streamable({
        sessions: ["1", "2"],
        respond: (received, response) => {
          if (isCall(received)) {
            stream(response).send({
              jsonrpc: "2.0",
              id: 5,
              method: "elicitation/create",
              params: { message: "?", requestedSchema: { type: "object", properties: {} } },
            });
            return true;
          }
          if (received.body.method !== undefined || received.verb !== "POST") return false;
          plain(response, 404);
          return true;
        },
      }),
    );
    const client = await open(server.url, { onElicit: () => ({ action: "accept", content: {} }) });
    await expect(client.callTool("t")).rejects.toMatchObject({ code: "connection_lost" });
    expect(server.of("tools/call")).toHaveLength(1);
  });

  it("is noticed by subscriptions, which begin anew", async () => {
    let first: ServerResponse | undefined;
    const server = await endpoint(
      streamable({
        sessions: ["1", "2"],
        listen: ({ headers }, response) => {
          if (headers["mcp-session-id"] === "2") stream(response);
          else if (first) plain(response, 404);
          else {
            first = response;
            stream(response);
          }
        },
        respond: ({ body, headers }, response) => {
          if (
            body.method !== "resources/subscribe" ||
            headers["mcp-session-id"] === "2" ||
            server.of("GET").length < 2
          )
            return false;
          plain(response, 404);
          return true;
        },
      }),
    );
    const client = await open(server.url, { limits: { reopenDelayMs: 1 } });
    const subscription = client.listen({ resourceSubscriptions: ["a:1"] });
    await subscription.acknowledged;
    first?.end("retry: 10\n\n");
    expect(await subscription.next()).toMatchObject({ value: { type: "reopened" } });
    expect(server.of("resources/subscribe").at(-1)?.headers["mcp-session-id"]).toBe("2");
  });
});

describe("the answer to a request", () => {
  it("may come in an array, as JSON and on a stream (2025-03-26)", async () => {
    const server = await endpoint(
      streamable({
        version: "2025-03-26",
        respond: (received, response) => {
          if (!isCall(received)) return false;
          const note = { jsonrpc: "2.0", method: "com.example/note" };
          if (received.body.params?.["name"] === "json") json(response, [note, answerTo(received)]);
          else {
            const events = stream(response);
            events.send([note, note]);
            events.send([answerTo(received)]);
            events.end();
          }
          return true;
        },
      }),
    );
    const client = await open(server.url);
    for (const [name, notes] of [
      ["json", 1],
      ["stream", 2],
    ] as const) {
      const seen: string[] = [];
      const onNotification = ({ method }: { method: string }) => seen.push(method);
      expect(textOf(await client.callTool(name, {}, { onNotification }))).toBe("ok");
      expect(seen).toEqual(Array(notes).fill("com.example/note"));
    }
  });

  it("is followed over as many connections as it takes, with the pauses that are asked for", async () => {
    let call: Received;
    const server = await endpoint(
      streamable({
        sessions: ["s"],
        respond: (received, response) => {
          if (!isCall(received)) return false;
          call = received;
          const events = stream(response);
          // "An SSE event consisting of an event ID and an empty `data` field in order to prime the client."
          events.raw("id: ä1\ndata:\n\nretry: 30\n\n");
          events.end();
          return true;
        },
        listen: ({ headers }, response) => {
          const from = headers["last-event-id"];
          if (from === undefined) return plain(response, 405);
          const events = stream(response);
          if (Buffer.from(from as string, "latin1").toString() === "ä1") {
            events.send({ jsonrpc: "2.0", method: "com.example/note" }, "a2");
            events.raw("id: a3\ndata: not finish");
          } else events.send(answerTo(call), "a9");
          return events.end();
        },
      }),
    );
    const client = await open(server.url);
    const notes: string[] = [];
    const result = await client.callTool("t", {}, { onNotification: ({ method }) => notes.push(method) });
    expect([textOf(result), notes]).toEqual(["ok", ["com.example/note"]]);
    const resumptions = server.of("GET").filter(({ headers }) => headers["last-event-id"] !== undefined);
    expect(resumptions.map(({ headers }) => [headers["last-event-id"], headers["mcp-session-id"]])).toEqual([
      [Buffer.from("ä1").toString("latin1"), "s"],
      ["a2", "s"],
    ]);
    expect(server.of("tools/call")).toHaveLength(1);
  });

  it.each([
    ["has no id to go on from", ": nothing\n\n", /was lost before the response came/],
    ["is refused", "id: a1\nretry: 1\ndata:\n\n", /cannot be taken up again: .*HTTP 405/],
  ])("is lost where the stream %s", async (_, text, message) => {
    const server = await endpoint(
      streamable({
        respond: (received, response) => {
          if (!isCall(received)) return false;
          const events = stream(response);
          events.raw(text);
          events.end();
          return true;
        },
      }),
    );
    const client = await open(server.url);
    await expect(client.callTool("t")).rejects.toMatchObject({
      code: "connection_lost",
      message: expect.stringMatching(message),
    });
  });

  it.each([
    [
      "something else than JSON",
      (response: ServerResponse) => plain(response, 200, "<html>"),
      "invalid_response",
      /HTTP 200/,
    ],
    [
      "another response",
      (response: ServerResponse) => json(response, { jsonrpc: "2.0", id: 99, result: {} }),
      "invalid_response",
      /without a response/,
    ],
    [
      "no message",
      (response: ServerResponse) => json(response, { result: {} }),
      "invalid_response",
      /jsonrpc/,
    ],
    [
      "an error of the server",
      (response: ServerResponse) => plain(response, 500, "oops"),
      "connect_failed",
      /HTTP 500.*oops/,
    ],
    [
      "an error that carries a message",
      (response: ServerResponse) =>
        json(response, { jsonrpc: "2.0", error: { code: -32001, message: "No" } }, 400),
      "protocol_error",
      /No \(-32001\)/,
    ],
    ["a broken connection", (response: ServerResponse) => response.destroy(), "connection_lost", /was lost/],
    [
      "too much",
      (response: ServerResponse) => json(response, { text: "x".repeat(5_000) }),
      "limit_exceeded",
      /maxResponseBytes/,
    ],
    [
      "too much in one event",
      (response: ServerResponse) => stream(response).raw(`data: ${"x".repeat(5_000)}\n\n`),
      "limit_exceeded",
      /maxEventLength/,
    ],
  ] as const)("may be %s", async (_, respond, code, message) => {
    const server = await endpoint(streamable({ respond: when(isCall, (response) => respond(response)) }));
    const client = await open({ url: server.url, limits: { maxResponseBytes: 4_000 } });
    expect(await failure(client.callTool("t"))).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect((await client.listTools()).tools).toEqual([]);
  });

  it("that is not wanted any more is cancelled, and its stream closed", async () => {
    let closed = false;
    const server = await endpoint(
      streamable({
        respond: (received, response) => {
          if (!isCall(received)) return false;
          stream(response);
          response.on("close", () => {
            closed = true;
          });
          return true;
        },
      }),
    );
    const client = await open(server.url);
    const controller = new AbortController();
    const calling = failure(client.callTool("t", {}, { signal: controller.signal }));
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(1));
    controller.abort();
    expect(await calling).toMatchObject({ code: "aborted" });
    await vi.waitFor(() => expect(closed).toBe(true));
    const [call] = server.of("tools/call");
    expect(server.of("notifications/cancelled")[0]?.body.params).toMatchObject({ requestId: call?.body.id });
  });
});

it("questions on the streams of two requests are told apart", async () => {
  const streams = new Map<unknown, [Stream, Received]>();
  const server = await endpoint(
    streamable({
      respond: (received, response) => {
        const { body } = received;
        if (isCall(received)) {
          const events = stream(response);
          streams.set(`q-${String(body.params?.["name"])}`, [events, received]);
          if (streams.size < 2) return true;
          for (const [id, [each]] of streams) {
            each.send({
              jsonrpc: "2.0",
              id,
              method: "elicitation/create",
              params: { message: id, requestedSchema: { type: "object", properties: {} } },
            });
          }
          return true;
        }
        const asked = body.method === undefined ? streams.get(body.id) : undefined;
        if (asked === undefined) return false;
        response.writeHead(202).end();
        asked[0].send(answerTo(asked[1], String(body.id)));
        return true;
      },
    }),
  );
  const seen: unknown[] = [];
  const client = await open(server.url, {
    onElicit: ({ message }, { params }) => {
      seen.push([message, params["name"]]);
      return { action: "accept", content: {} };
    },
  });
  const results = await Promise.all([client.callTool("a"), client.callTool("b")]);
  expect(results.map(textOf)).toEqual(["q-a", "q-b"]);
  expect(seen.sort()).toEqual([
    ["q-a", "a"],
    ["q-b", "b"],
  ]);
});

describe("the stream of the server", () => {
  const UPDATED = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "a:1" } };

  it("is there before the first request where the server may ask, and brings questions of it", async () => {
    let events: Stream;
    let call: [Received, ServerResponse];
    const question = {
      jsonrpc: "2.0",
      id: 1,
      method: "elicitation/create",
      params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
    };
    const server = await endpoint(
      streamable({
        listen: (_, response) => void setTimeout(() => (events = stream(response)), 100),
        respond: (received, response) => {
          if (isCall(received)) {
            call = [received, response];
            events.send(question);
            return true;
          }
          if (received.body.method !== undefined || received.verb !== "POST") return false;
          response.writeHead(202).end();
          json(call[1], answerTo(call[0], JSON.stringify(received.body["result"])));
          return true;
        },
      }),
    );
    const client = await open(server.url, { onElicit: () => ({ action: "decline" }) });
    expect(textOf(await client.callTool("t"))).toBe('{"action":"decline"}');
    expect(server.posted.slice(1)).toEqual([...HANDSHAKE, "tools/call", "(response)"]);
  });

  it("is not waited for where its head comes with an event only", async () => {
    const server = await endpoint(streamable({ listen: () => {} }));
    const client = await open(server.url, { onElicit: () => ({ action: "decline" }) });
    expect(textOf(await client.callTool("t"))).toBe("tools/call");
    const subscription = client.listen({ resourceSubscriptions: ["a:1"] });
    expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: ["a:1"] });
  });

  it("is taken up where it broke off, or else subscriptions begin anew", async () => {
    const streams: [Stream, string | undefined][] = [];
    const server = await endpoint(
      streamable({
        listen: ({ headers }, response) => {
          streams.push([stream(response), headers["last-event-id"] as string | undefined]);
        },
      }),
    );
    const client = await open(server.url, { limits: { reopenDelayMs: 1 } });
    const subscription = client.listen({ resourceSubscriptions: ["a:1"] });
    await subscription.acknowledged;
    const event = { value: { type: "resourceUpdated", uri: "a:1" } };
    streams[0]?.[0].raw("retry: 10\n\n");
    streams[0]?.[0].send(UPDATED, "e1");
    expect(await subscription.next()).toMatchObject(event);
    streams[0]?.[0].end();
    await vi.waitFor(() => expect(streams).toHaveLength(2), 10_000);
    expect(streams[1]?.[1]).toBe("e1");
    streams[1]?.[0].send(UPDATED);
    // Nothing was missed, so that nobody has to be told.
    expect(await subscription.next()).toMatchObject(event);
    expect(server.of("resources/subscribe")).toHaveLength(1);
    streams[1]?.[0].raw("id:\ndata:\n\n");
    streams[1]?.[0].end();
    expect(await subscription.next()).toMatchObject({ value: { type: "reopened" } });
    await vi.waitFor(() => expect(streams).toHaveLength(3), 10_000);
    expect(streams[2]?.[1]).toBeUndefined();
    streams[2]?.[0].send(UPDATED);
    expect(await subscription.next()).toMatchObject(event);
  });

  it("is given up after some attempts, and tried again by the next subscription", async () => {
    let broken = false;
    const streams: Stream[] = [];
    const server = await endpoint(
      streamable({
        listen: (_, response) => {
          if (broken) plain(response, 503);
          else streams.push(stream(response));
        },
      }),
    );
    const client = await open(server.url, { limits: { reopenDelayMs: 1, reopenAttempts: 0 } });
    const subscription = client.listen({ resourceSubscriptions: ["a:1"] });
    await subscription.acknowledged;
    broken = true;
    streams[0]?.raw("retry: 1\n\n");
    streams[0]?.end();
    await expect(subscription.next()).rejects.toMatchObject({ code: "connection_lost" });
    await vi.waitFor(() => expect(server.of("GET")).toHaveLength(6), 10_000);
    expect(textOf(await client.callTool("t"))).toBe("tools/call");
    broken = false;
    await client.listen({ resourceSubscriptions: ["a:1"] }).acknowledged;
    expect(streams).toHaveLength(2);
  });
});

describe("what is no MCP server", () => {
  it.each([404, 405])("is refused with everything that was tried (%i)", async (status) => {
    const server = await endpoint((_, response) => plain(response, status, "nothing here"));
    const error = await failure(open(server.url));
    expect(error.code).toBe("unsupported_version");
    expect(error.message).toMatch(
      new RegExp(`server/discover.*${status}.*initialize.*the same.*HTTP\\+SSE.*the same.*2026-07-28`),
    );
    expect(server.posted).toEqual([PROBE, "initialize"]);
    expect(server.of("GET")).toHaveLength(1);
  });

  it("that wants to know who asks is not asked in another way", async () => {
    const server = await endpoint(({ body }, response) => {
      if (body.method === PROBE) return plain(response, 400);
      return response.writeHead(401, { "www-authenticate": 'Bearer realm="x"' }).end();
    });
    const error = await failure(open(server.url));
    expect(error).toMatchObject({ code: "connect_failed", message: expect.stringContaining("401") });
    expect((error.cause as HttpStatusError).wwwAuthenticate).toBe('Bearer realm="x"');
    expect(server.of("GET")).toEqual([]);
  });

  it("may be asked for one era only", async () => {
    const server = await endpoint(streamable({ sessions: ["1"] }));
    await expect(open(server.url, { era: "modern" })).rejects.toMatchObject({ code: "unsupported_version" });
    const client = await open(server.url, { era: "legacy" });
    expect(client.era.branch).toBe("forced");
    expect(server.posted).toEqual([PROBE, ...HANDSHAKE]);
  });
});
