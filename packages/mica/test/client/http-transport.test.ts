/** The HTTP transport of a client against hand-written servers on real sockets (transports/streamable-http). */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type HttpTransportOptions, httpTransport } from "../../src/http/client.js";
import type { HttpStatusError } from "../../src/http/status-error.js";
import type { McpError } from "../../src/protocol/errors.js";
import type { JSONRPCNotification, JSONRPCRequest } from "../../src/protocol/types.js";
import { gate } from "./scripted.js";

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string[];
  readonly body: JSONRPCRequest;
}

type Respond = (response: ServerResponse, received: Received, incoming: IncomingMessage) => void;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function endpoint(respond: Respond, options: HttpTransportOptions = {}, path = "/mcp") {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ keepAlive: true }, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JSONRPCRequest;
      const entry = {
        method: incoming.method,
        url: incoming.url,
        headers: incoming.headers,
        raw: incoming.rawHeaders,
        body,
      };
      received.push(entry);
      respond(response, entry, incoming);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const transport = httpTransport(url, options);
  cleanups.push(async () => {
    await transport.close();
    // Nothing but the client ends its connections: one that it leaves open keeps the test from ending.
    while (sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => server.close(resolve));
  });
  return { transport, received, url, server, sockets };
}

let lastId = 0;
const request = (method = "tools/list", params: Record<string, unknown> = {}): JSONRPCRequest => ({
  jsonrpc: "2.0",
  id: ++lastId,
  method,
  params: { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
});
const json = (
  response: ServerResponse,
  message: unknown,
  status = 200,
  headers: Record<string, string> = {},
) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(message));
};
const answer = (response: ServerResponse, { body }: Received) =>
  json(response, { jsonrpc: "2.0", id: body.id, result: { ok: true } });
const stream = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  return (message: unknown) => response.write(`data: ${JSON.stringify(message)}\n\n`);
};
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable("the exchange should have failed"),
    (error: unknown) => error as McpError,
  );

describe("what is sent", () => {
  it("one POST with the headers of the protocol, mirrored values and the caller's own", async () => {
    const { transport, received } = await endpoint(
      answer,
      { headers: { Authorization: "Bearer secret", "X-Team": "a" } },
      "/a/mcp?x=1",
    );
    const call = request("tools/call", { name: "größe", arguments: { region: "eu" } });
    await transport.exchange(call, {
      mirrored: [
        { header: "mcp-param-region", type: "string", value: "eu" },
        { header: "mcp-param-count", type: "integer", value: -7 },
        { header: "mcp-param-dry", type: "boolean", value: false },
        { header: "mcp-param-none", type: "string", value: undefined },
      ],
    });
    const [post] = received;
    expect(post).toMatchObject({ method: "POST", url: "/a/mcp?x=1", body: call });
    expect(post?.headers).toMatchObject({
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "=?base64?Z3LDtsOfZQ==?=",
      "mcp-param-region": "eu",
      "mcp-param-count": "-7",
      "mcp-param-dry": "false",
      authorization: "Bearer secret",
      "x-team": "a",
      "content-length": String(Buffer.byteLength(JSON.stringify(call))),
    });
    expect(post?.headers).not.toHaveProperty("mcp-param-none");
    expect(post?.headers).not.toHaveProperty("mcp-session-id");
  });

  it("headers of a function are asked for each time", async () => {
    let token = 0;
    const { transport, received } = await endpoint(answer, {
      headers: async () => ({ authorization: `Bearer ${++token}` }),
    });
    await transport.exchange(request());
    await transport.exchange(request());
    expect(received.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
  });

  it.each([
    "Accept",
    "content-type",
    "Content-Length",
    "Mcp-Method",
    "mcp-param-x",
    "MCP-Protocol-Version",
    "Host",
    "Transfer-Encoding",
  ])("the header %s is not the caller's to set", async (name) => {
    expect(() => httpTransport("http://127.0.0.1/", { headers: { [name]: "x" } })).toThrow(
      new RegExp(`headers\\.${name}`),
    );
    const { transport, received } = await endpoint(answer, { headers: () => ({ [name]: "x" }) });
    await expect(transport.exchange(request())).rejects.toThrow(TypeError);
    expect(received).toHaveLength(0);
  });

  it("a header value that would split the request is refused", async () => {
    const { transport, received } = await endpoint(answer, { headers: { "x-a": "b\r\nx-c: d" } });
    await expect(transport.exchange(request())).rejects.toThrow(TypeError);
    expect(received).toHaveLength(0);
  });

  it.each([["ftp://example.com"], ["/mcp"], [""], ["node server.js"]])("%j is no endpoint", (url) => {
    expect(() => httpTransport(url)).toThrow(/url: expected an http or https URL/);
  });

  it("a connection serves one request after the other", async () => {
    let connections = 0;
    const { transport, server } = await endpoint(answer);
    server.on("connection", () => {
      connections += 1;
    });
    for (let time = 0; time < 20; time += 1) await transport.exchange(request());
    expect(connections).toBe(1);
  });
});

describe("what is received", () => {
  it("a JSON response, errors under their status included", async () => {
    const { transport } = await endpoint((response, { body }) => {
      if (body.method === "tools/list")
        return json(response, { jsonrpc: "2.0", id: body.id, result: { tools: [] } }, 200, { "x-a": "b" });
      json(
        response,
        { jsonrpc: "2.0", id: body.id, error: { code: -32601, message: "Method not found" } },
        404,
      );
    });
    const listed = request();
    expect(await transport.exchange(listed)).toEqual({
      jsonrpc: "2.0",
      id: listed.id,
      result: { tools: [] },
    });
    const unknown = request("x/y");
    expect(await transport.exchange(unknown)).toMatchObject({ id: unknown.id, error: { code: -32601 } });
  });

  it("an error response without an id, null included, belongs to the request", async () => {
    const { transport } = await endpoint((response, { body }) =>
      json(
        response,
        {
          jsonrpc: "2.0",
          ...(body.method === "null" && { id: null }),
          error: { code: -32600, message: "Origin" },
        },
        400,
      ),
    );
    expect(await transport.exchange(request("null"))).toMatchObject({ error: { message: "Origin" } });
    expect(await transport.exchange(request("none"))).toMatchObject({ error: { message: "Origin" } });
  });

  it("but under 403 it is about who asks, and no answer to the request", async () => {
    const { transport } = await endpoint((response, { body }) =>
      json(
        response,
        {
          jsonrpc: "2.0",
          ...(body.method === "own" && { id: body.id }),
          error: { code: -32000, message: "Not for you" },
        },
        403,
      ),
    );
    await expect(transport.exchange(request("none"))).rejects.toMatchObject({
      code: "connect_failed",
      message: expect.stringMatching(/answered HTTP 403 Forbidden: Not for you$/),
      cause: { status: 403 },
    });
    expect(await transport.exchange(request("own"))).toMatchObject({ error: { message: "Not for you" } });
  });

  it("a byte order mark and odd spelling of the type do not matter", async () => {
    const { transport } = await endpoint((response, { body }) => {
      response.writeHead(200, { "content-type": " Application/JSON ;charset=UTF-8" });
      response.end(`\ufeff${JSON.stringify({ jsonrpc: "2.0", id: body.id, result: {} })}`);
    });
    await expect(transport.exchange(request())).resolves.toMatchObject({ result: {} });
  });

  it("a stream: notifications in order as they come, then the response, cut anywhere", async () => {
    const bytesOf = (body: JSONRPCRequest) =>
      Buffer.from(
        `\ufeff: hello\r\n\r\nid: 1\ndata:\n\nevent: ping\ndata: {}\n\nevent: message\rdata: ${JSON.stringify(
          {
            jsonrpc: "2.0",
            method: "notifications/message",
            params: { data: "größe 😀" },
          },
        )}\r\rdata: {"jsonrpc":"2.0",\ndata: "method":"notifications/progress"}\n\ndata: ${JSON.stringify({
          jsonrpc: "2.0",
          id: body.id,
          result: { text: "世界" },
        })}\n\n`,
      );
    for (const size of [1, 2, 3, 7, 1_000]) {
      const { transport } = await endpoint(async (response, { body }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const bytes = bytesOf(body);
        for (let at = 0; at < bytes.length; at += size) {
          response.write(bytes.subarray(at, at + size));
          if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      const seen: unknown[] = [];
      const response = await transport.exchange(request(), {
        onNotification: ({ method, params }) => seen.push([method, params]),
      });
      expect(response).toMatchObject({ result: { text: "世界" } });
      expect(seen).toEqual([
        ["notifications/message", { data: "größe 😀" }],
        ["notifications/progress", undefined],
      ]);
    }
  });

  it("a response counts before its stream ends, and the connection is not left hanging", async () => {
    const closed = gate();
    const { transport, sockets } = await endpoint((response, { body }) => {
      response.on("close", () => closed.open());
      stream(response)({ jsonrpc: "2.0", id: body.id, result: {} });
    });
    await transport.exchange(request());
    expect(sockets.size).toBe(1);
    await closed.passed;
  });

  it("notifications arrive while the stream is open", async () => {
    const arrived = gate<JSONRPCNotification>();
    const { transport } = await endpoint(async (response, { body }) => {
      const send = stream(response);
      send({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } });
      await arrived.passed;
      send({ jsonrpc: "2.0", id: body.id, result: {} });
      response.end();
    });
    await transport.exchange(request(), { onNotification: (notification) => arrived.open(notification) });
    expect(await arrived.passed).toMatchObject({ params: { progress: 1 } });
  });
});

describe("what is not the protocol", () => {
  it.each<[string, Respond, McpError["code"], RegExp]>([
    [
      "a page",
      (response) =>
        response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>\n<p>to nginx"),
      "invalid_response",
      /\/mcp \(tools\/list\) answered HTTP 200 OK with Content-Type text\/html; expected application\/json or text\/event-stream: <h1>Welcome<\/h1> <p>to nginx/,
    ],
    ["no type", (response) => response.writeHead(200).end("{}"), "invalid_response", /Content-Type missing/],
    [
      "an acceptance without an answer",
      (response) => response.writeHead(202).end(),
      "invalid_response",
      /HTTP 202 Accepted$/,
    ],
    [
      "no JSON",
      (response) => response.writeHead(200, { "content-type": "application/json" }).end("{nope"),
      "invalid_response",
      /not valid JSON.*: \{nope/,
    ],
    ["a batch", (response) => json(response, []), "invalid_response", /batches/],
    [
      "a notification",
      (response) => json(response, { jsonrpc: "2.0", method: "notifications/message" }),
      "invalid_response",
      /a notification \(notifications\/message\)/,
    ],
    [
      "another id",
      (response) => json(response, { jsonrpc: "2.0", id: "99", result: {} }),
      "invalid_response",
      /another request: expected id \d+, got "99"/,
    ],
    [
      "the id as a string",
      (response, { body }) => json(response, { jsonrpc: "2.0", id: String(body.id), result: {} }),
      "invalid_response",
      /another request/,
    ],
    [
      "a request on the stream",
      (response) => stream(response)({ jsonrpc: "2.0", id: 1, method: "sampling/createMessage" }),
      "invalid_response",
      /a request of its own \(sampling\/createMessage\)/,
    ],
    [
      "an event that is no message",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("data: hello\n\n");
      },
      "invalid_response",
      /not valid JSON.*: hello/,
    ],
    [
      "a compressed answer",
      (response) =>
        response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("x"),
      "invalid_response",
      /Content-Encoding gzip/,
    ],
    [
      "404 from something else",
      (response) => response.writeHead(404, { "content-type": "text/plain" }).end("Not here"),
      "invalid_response",
      /HTTP 404 Not Found: Not here/,
    ],
    [
      "400 with JSON of its own",
      (response) => json(response, { error: "bad" }, 400),
      "invalid_response",
      /HTTP 400 Bad Request: \{"error":"bad"\}/,
    ],
    [
      "503",
      (response) => response.writeHead(503).end("later"),
      "connect_failed",
      /HTTP 503 Service Unavailable: later/,
    ],
    [
      "503 as an error response of nobody's",
      (response) => json(response, { jsonrpc: "2.0", error: { code: -32603, message: "Busy" } }, 503),
      "connect_failed",
      /503.*Busy/,
    ],
    ["429", (response) => response.writeHead(429, { "retry-after": "3" }).end(), "connect_failed", /429/],
  ])("%s is refused in words", async (_, respond, code, message) => {
    const { transport } = await endpoint(respond);
    const failure = await failureOf(transport.exchange(request()));
    expect(failure).toMatchObject({ name: "McpError", code });
    expect(failure.message).toMatch(message);
  });

  it("a long body is quoted in part", async () => {
    const { transport } = await endpoint((response) => response.writeHead(500).end("x".repeat(10_000)));
    const failure = await failureOf(transport.exchange(request()));
    expect(failure.message.length).toBeLessThan(400);
    expect((failure.cause as HttpStatusError).status).toBe(500);
  });

  it.each([401, 403])("%i carries its challenge", async (status) => {
    const challenge =
      'Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource", scope="a b"';
    const { transport } = await endpoint((response) =>
      json(response, { jsonrpc: "2.0", error: { code: -32600, message: "Token required" } }, status, {
        "www-authenticate": challenge,
      }),
    );
    const failure = await failureOf(transport.exchange(request()));
    expect(failure).toMatchObject({ code: "connect_failed", cause: { status, wwwAuthenticate: challenge } });
    expect(failure.message).toContain(challenge);
    expect(failure.message).toContain("Token required");
  });

  it.each([301, 302, 303, 307, 308])("a redirect (%i) is named and not followed", async (status) => {
    const other = await endpoint(answer);
    const { transport } = await endpoint(
      (response) => response.writeHead(status, { location: other.url }).end(),
      {
        headers: { authorization: "Bearer secret" },
      },
    );
    const failure = await failureOf(transport.exchange(request()));
    expect(failure).toMatchObject({ code: "connect_failed", cause: { status, location: other.url } });
    expect(failure.message).toContain(other.url);
    expect(failure.message).not.toContain("secret");
    expect(other.received).toHaveLength(0);
  });

  it("credentials in the URL are used, and stay out of messages", async () => {
    const { url, received } = await endpoint((response) => response.writeHead(500).end());
    const transport = httpTransport(`${url.replace("http://", "http://user:hunter2@")}?key=hunter3`);
    cleanups.push(() => transport.close());
    const failure = await failureOf(transport.exchange(request()));
    expect(received[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from("user:hunter2").toString("base64")}`,
    );
    expect(failure.message).toContain(url);
    expect(failure.message).not.toMatch(/hunter/);
  });

  it("answers beyond the limit are cut off, with and without a length, as documents and as events", async () => {
    const limits = { maxResponseBytes: 1_000 };
    const big = { jsonrpc: "2.0", id: 1, result: { text: "x".repeat(5_000) } };
    const { transport } = await endpoint(
      (response, { body }) => {
        if (body.method === "document") return json(response, big);
        if (body.method === "chunks") {
          response.writeHead(200, { "content-type": "application/json" });
          const more = setInterval(() => response.write("x".repeat(600)), 1);
          response.on("close", () => clearInterval(more));
          return;
        }
        stream(response)(big);
      },
      { limits },
    );
    for (const method of ["document", "chunks", "events"]) {
      const failure = await failureOf(transport.exchange(request(method)));
      expect(failure.code).toBe("limit_exceeded");
      expect(failure.message).toContain("1000");
    }
  });

  it("something that is not HTTP is said to be that", async () => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.resume();
      socket.end("SSH-2.0-OpenSSH_9.6\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const transport = httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    cleanups.push(async () => {
      await transport.close();
      await new Promise((resolve) => server.close(resolve));
    });
    expect(await failureOf(transport.exchange(request()))).toMatchObject({
      code: "invalid_response",
      message: expect.stringContaining("not HTTP"),
    });
  });
});

describe("connections", () => {
  it("nobody there is connect_failed, naming the URL", async () => {
    const { transport, server, url } = await endpoint(answer);
    await new Promise((resolve) => server.close(resolve));
    const failure = await failureOf(transport.exchange(request()));
    expect(failure).toMatchObject({ code: "connect_failed", cause: { code: "ECONNREFUSED" } });
    expect(failure.message).toContain(url);
    expect(failure.message).toContain("ECONNREFUSED");
    // Listening again, so that it can be closed like the others.
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });

  it("a name that does not exist is connect_failed", async () => {
    const transport = httpTransport("http://does-not-exist.invalid/mcp");
    expect(await failureOf(transport.exchange(request()))).toMatchObject({
      code: "connect_failed",
      message: expect.stringContaining("http://does-not-exist.invalid/mcp"),
    });
    await transport.close();
  });

  it.each<[string, Respond]>([
    ["before the status", (response) => response.destroy()],
    [
      "within a document",
      (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.write("{", () => response.destroy());
      },
    ],
    [
      "within a stream",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(": hi\n\n", () => response.destroy());
      },
    ],
    [
      "at the proper end of a stream that brought no response",
      (response) => {
        stream(response)({ jsonrpc: "2.0", method: "notifications/message" });
        response.end();
      },
    ],
  ])("a connection that ends %s is connection_lost", async (_, respond) => {
    const { transport } = await endpoint(respond);
    expect(await failureOf(transport.exchange(request("tools/call", { name: "t" })))).toMatchObject({
      code: "connection_lost",
      message: expect.stringContaining("tools/call"),
    });
  });

  it.each(["waiting", "streaming"])(
    "an abort while %s closes the connection, and rejects with its reason",
    async (phase) => {
      const arrived = gate();
      const gone = gate();
      const { transport, sockets } = await endpoint((response) => {
        response.on("close", () => gone.open());
        if (phase === "streaming") stream(response)({ jsonrpc: "2.0", method: "notifications/message" });
        else arrived.open();
      });
      const controller = new AbortController();
      const exchange = transport.exchange(request(), {
        signal: controller.signal,
        onNotification: () => arrived.open(),
      });
      const failure = failureOf(exchange);
      await arrived.passed;
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await failure).toBe(reason);
      await gone.passed;
      while (sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
    },
  );

  it("an abort beforehand sends nothing", async () => {
    const { transport, received } = await endpoint(answer);
    const reason = new Error("never mind");
    expect(await failureOf(transport.exchange(request(), { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    );
    expect(received).toHaveLength(0);
  });

  it("closing ends what is in flight, and refuses the rest", async () => {
    const arrived = gate();
    const { transport } = await endpoint(() => arrived.open());
    const failure = failureOf(transport.exchange(request()));
    await arrived.passed;
    await Promise.all([transport.close(), transport.close()]);
    expect(await failure).toMatchObject({ code: "closed" });
    expect(await failureOf(transport.exchange(request()))).toMatchObject({ code: "closed" });
  });

  /** Answers the first request of a connection, and resets the connection upon the second. */
  async function resetting() {
    const seen: string[] = [];
    const server = createTcpServer((socket) => {
      let requests = 0;
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        const { id, method } = JSON.parse(bytes.toString().split("\r\n\r\n")[1] ?? "") as JSONRPCRequest;
        seen.push(method);
        requests += 1;
        if (requests > 1) return socket.resetAndDestroy();
        const body = JSON.stringify({ jsonrpc: "2.0", id, result: {} });
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const transport = httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    cleanups.push(async () => {
      await transport.close();
      await new Promise((resolve) => server.close(resolve));
    });
    return { transport, seen };
  }

  it("a kept connection that turns out closed is replaced for what only reads", async () => {
    const { transport, seen } = await resetting();
    await transport.exchange(request("tools/list"));
    await expect(transport.exchange(request("resources/read", { uri: "a:" }))).resolves.toMatchObject({
      result: {},
    });
    expect(seen).toEqual(["tools/list", "resources/read", "resources/read"]);
  });

  it.each([
    ["tools/call", { name: "t" }],
    ["prompts/get", { name: "p", inputResponses: {} }],
    ["resources/read", { uri: "a:", requestState: "s" }],
    ["com.example/x", {}],
  ])("but not for %s %j, which may have been acted upon", async (method, params) => {
    const { transport, seen } = await resetting();
    await transport.exchange(request("tools/list"));
    expect(await failureOf(transport.exchange(request(method, params)))).toMatchObject({
      code: "connection_lost",
    });
    expect(seen).toEqual(["tools/list", method]);
  });
});
