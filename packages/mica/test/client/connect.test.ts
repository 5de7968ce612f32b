/** The whole way, from `connect` to a server made with this library, over memory, standard streams and HTTP. */
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type ClientOptions,
  type ConnectTarget,
  connect,
  HttpStatusError,
  McpError,
} from "../../src/entry/client.js";
import { serveHttp } from "../../src/http/serve.js";
import { memoryTransport } from "../../src/testing/memory.js";
import { type Bundle, bundle } from "../stdio/bundle.js";
import { everything } from "./fixtures/everything.js";
import { gate } from "./scripted.js";

let program: Bundle;
beforeAll(async () => {
  program = await bundle("../../client/fixtures/stdio-server.ts");
});
afterAll(() => program.remove());

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const targets: Record<string, () => Promise<ConnectTarget>> = {
  memory: async () => {
    const transport = memoryTransport(everything());
    cleanups.push(() => expect(transport.inFlight).toBe(0));
    return { transport };
  },
  stdio: async () => ({ command: process.execPath, args: [program.file] }),
  http: async () => {
    const server = await serveHttp(everything(), { port: 0 });
    cleanups.push(async () => {
      // The client has closed all its connections.
      const count = () =>
        new Promise<number>((resolve) => server.server.getConnections((_, open) => resolve(open)));
      while ((await count()) > 0) await new Promise((resolve) => setImmediate(resolve));
      await server.close();
    });
    return server.url;
  },
};

async function open(kind: string, options: Partial<ClientOptions> = {}) {
  const target = await (targets[kind] as () => Promise<ConnectTarget>)();
  const client = await connect(target, {
    name: "test",
    version: "1.0.0",
    onWarning: (warning) => expect.unreachable(warning.message),
    ...options,
  });
  cleanups.push(() => client.close());
  return client;
}

describe.each(Object.keys(targets))("over %s", (kind) => {
  it("connect learns who the server is", async () => {
    const client = await open(kind);
    expect(client.protocolVersion).toBe("2026-07-28");
    expect(client.serverInfo).toMatchObject({ name: "everything", version: "0.0.1" });
    expect(client.serverCapabilities).toMatchObject({
      tools: {},
      resources: {},
      prompts: {},
      completions: {},
    });
    expect(client.instructions).toBe("Add things up.");
  });

  it("every verb works", async () => {
    const client = await open(kind);
    const { tools, complete } = await client.listTools();
    expect(complete).toBe(true);
    expect(tools.map(({ name }) => name)).toEqual(["add", "where", "greet", "count", "hang", "grow", "pid"]);
    expect((await client.callTool("add", { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    expect(await client.callTool("where", { region: " südlich\n" })).toMatchObject({
      content: [{ text: "in  südlich\n" }],
    });
    expect(await client.callTool("add", { a: "1" })).toMatchObject({ isError: true });
    expect((await client.listResources()).resources).toHaveLength(2);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
    expect((await client.readResource("note:1")).contents).toMatchObject([{ uri: "note:1", text: "first" }]);
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: "review" }]);
    expect((await client.getPrompt("review", { language: "C" })).messages).toMatchObject([
      { content: { text: "Review this C" } },
    ]);
    const completed = await client.complete(
      { type: "ref/prompt", name: "review" },
      { name: "language", value: "py" },
    );
    expect(completed.completion.values).toEqual(["python"]);
  });

  it("refusals carry the server's code", async () => {
    const client = await open(kind);
    await expect(client.callTool("nope")).rejects.toMatchObject({
      code: "protocol_error",
      cause: { code: -32602 },
    });
    await expect(client.readResource("note:2")).rejects.toMatchObject({
      code: "protocol_error",
      cause: { code: -32602 },
    });
    await expect(client.request("com.example/none")).rejects.toMatchObject({ cause: { code: -32601 } });
    await expect(client.callTool("greet")).rejects.toMatchObject({
      code: "protocol_error",
      cause: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
  });

  it("questions are answered on the way", async () => {
    const client = await open(kind, {
      onElicit: ({ message }) => ({ action: "accept", content: { name: message } }),
    });
    expect((await client.callTool("greet")).content).toMatchObject([{ text: "Hello, Who are you?" }]);
  });

  it("progress and logs arrive in order before the result", async () => {
    const client = await open(kind);
    const seen: unknown[] = [];
    await client.callTool(
      "count",
      {},
      {
        onProgress: ({ progress, total }) => seen.push([progress, total]),
        onLog: ({ data }) => seen.push(data),
      },
    );
    expect(seen).toEqual([[1, 3], [2, 3], [3, 3], "counted"]);
  });

  it("a timeout and an abort reach the server's handler", async () => {
    const client = await open(kind);
    const subscription = client.listen({ resourceSubscriptions: ["note:aborted"] });
    await subscription.acknowledged;
    const updated = { done: false, value: { type: "resourceUpdated", uri: "note:aborted" } };
    // Progress says that the handler runs, and gives it the whole timeout again.
    const late = client.callTool("hang", {}, { timeoutMs: 500, onProgress: () => {} });
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    expect(await subscription.next()).toEqual(updated);

    const controller = new AbortController();
    const running = gate();
    const call = client.callTool("hang", {}, { signal: controller.signal, onProgress: () => running.open() });
    const failure = expect(call).rejects.toMatchObject({ code: "aborted" });
    await running.passed;
    controller.abort();
    await failure;
    expect(await subscription.next()).toEqual(updated);
    await subscription.close();
  });

  it("a change invalidates what is cached, and is told", async () => {
    const client = await open(kind);
    const changed = gate();
    const subscription = client.listen({ toolsListChanged: true });
    expect(await subscription.acknowledged).toEqual({ toolsListChanged: true });
    const loop = (async () => {
      for await (const { type } of subscription) {
        expect(type).toBe("toolsListChanged");
        changed.open();
      }
    })();
    await client.listTools();
    await client.callTool("grow");
    await changed.passed;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("grown");
    await subscription.close();
    await loop;
  });

  it("many calls at once each get their own answer", async () => {
    const client = await open(kind);
    const sums = await Promise.all(
      Array.from({ length: 200 }, (_, a) => client.callTool("add", { a, b: 1 })),
    );
    expect(sums.map(({ structuredContent }) => (structuredContent as { sum: number }).sum)).toEqual(
      Array.from({ length: 200 }, (_, a) => a + 1),
    );
  });
});

it("a process that dies is started again, and a subscription opened again", async () => {
  const client = await open("stdio", { limits: { reopenDelayMs: 1 } });
  const subscription = client.listen({ toolsListChanged: true });
  await subscription.acknowledged;
  const pidOf = async () => Number(((await client.callTool("pid")).content[0] as { text: string }).text);
  const pid = await pidOf();
  expect(pid).not.toBe(process.pid);
  process.kill(pid, "SIGKILL");
  expect(await subscription.next()).toEqual({
    done: false,
    value: { type: "reopened", acknowledged: { toolsListChanged: true } },
  });
  expect(await pidOf()).not.toBe(pid);
});

it("an HTTP server that goes away and comes back finds its subscriber again", async () => {
  const first = await serveHttp(everything(), { port: 0, drainMs: 1 });
  const client = await connect(first.url, {
    name: "test",
    version: "1.0.0",
    limits: { reopenDelayMs: 5, maxReopenDelayMs: 20, reopenAttempts: 1_000 },
  });
  cleanups.push(() => client.close());
  const subscription = client.listen({ resourceSubscriptions: ["note:1"] });
  await subscription.acknowledged;
  // Not gracefully: the stream breaks off.
  first.server.closeAllConnections();
  await first.close();
  const { port } = first;
  const again = everything();
  const second = await serveHttp(again, { port });
  cleanups.push(() => second.close());
  expect(await subscription.next()).toMatchObject({ value: { type: "reopened" } });
  again.resourceUpdated("note:1");
  expect(await subscription.next()).toEqual({
    done: false,
    value: { type: "resourceUpdated", uri: "note:1" },
  });
  await second.close();
  expect(await subscription.next()).toEqual({ done: true, value: undefined });
});

it("stray text on a server's stdout becomes a warning", async () => {
  const warnings: unknown[] = [];
  const client = await connect(
    { command: process.execPath, args: [program.file, "--noisy"] },
    { name: "test", version: "1.0.0", onWarning: (warning) => warnings.push(warning) },
  );
  await client.close();
  expect(warnings).toEqual([
    { code: "stray_output", message: expect.stringContaining("Listening for greatness") },
  ]);
});

describe("what cannot be connected to", () => {
  const identity = { name: "test", version: "1.0.0" };

  it.each([
    ["node server.js", /command is given as/],
    ["ftp://example.com", /http or https/],
    [undefined, /target: expected/],
    [{}, /target: expected/],
    [{ command: "" }, /options\.command/],
    [{ url: "nonsense" }, /http or https/],
    [{ url: "http://127.0.0.1:1/", headers: { accept: "x" } }, /headers\.accept/],
  ])("%j is a TypeError", async (target, message) => {
    await expect(connect(target as ConnectTarget, identity)).rejects.toThrow(TypeError);
    await expect(connect(target as ConnectTarget, identity)).rejects.toThrow(message);
  });

  it("options are checked before anything is started", async () => {
    await expect(connect({ command: "/does/not/exist" }, { name: "x" } as never)).rejects.toThrow(
      /options\.version/,
    );
  });

  it("an option that nobody reads is refused by name, before anything is started", async () => {
    const options = { ...identity, onElict: async () => ({ action: "decline" as const }) };
    await expect(connect({ command: "/does/not/exist" }, options)).rejects.toThrow(
      /options: onElict is no option; expected name, version, .*onElicit, /,
    );
  });

  it("a program that does not exist, one that ends, and a port nobody listens on say so", async () => {
    await expect(connect({ command: "/does/not/exist" }, identity)).rejects.toMatchObject({
      code: "connect_failed",
      message: expect.stringContaining("/does/not/exist"),
    });
    await expect(
      connect(
        { command: process.execPath, args: ["-e", "console.error('no database'); process.exit(3)"] },
        identity,
      ),
    ).rejects.toMatchObject({
      code: "connection_lost",
      message: expect.stringMatching(/code 3.*no database/s),
      cause: { exitCode: 3 },
    });
    await expect(connect("http://127.0.0.1:1/mcp", identity)).rejects.toMatchObject({
      code: "connect_failed",
      message: expect.stringContaining("http://127.0.0.1:1/mcp"),
    });
  });

  it("a web server that is no MCP server, and one that wants a token", async () => {
    const web = createHttpServer((incoming, response) => {
      if (incoming.url === "/private")
        response.writeHead(401, { "www-authenticate": 'Bearer scope="a"' }).end();
      else response.writeHead(405, { "content-type": "text/html" }).end("<h1>Method not allowed</h1>");
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise((resolve) => web.close(resolve)));
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    await expect(connect(url, identity)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringMatching(/405.*2026-07-28/),
    });
    const failure = (await connect(new URL(`${url}/private`), identity).catch(
      (error: unknown) => error,
    )) as McpError;
    expect(failure).toBeInstanceOf(McpError);
    expect(failure.cause).toBeInstanceOf(HttpStatusError);
    expect(failure.cause).toMatchObject({ status: 401, wwwAuthenticate: 'Bearer scope="a"' });
  });
});
