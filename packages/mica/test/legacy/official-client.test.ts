/** The official client of the initialize era, `@modelcontextprotocol/sdk`, against Mica: over stdio and over HTTP. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Server } from "../../src/server/server.js";
import { everythingServer } from "./everything-server.js";
import { ENDPOINTS } from "./http-fixture.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let folder: string;
let file: string;
beforeAll(async () => {
  // Inside the package, so that what stays external is found from there.
  const cache = here("../../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "fixture-"));
  file = join(folder, "everything-process.mjs");
  await build({
    entryPoints: [here("fixtures/everything-process.ts")],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "warning",
    tsconfigRaw: {},
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Connected {
  readonly client: Client;
  /** Changes a list and a resource of the server. */
  change(): Promise<unknown>;
  readonly errors: Error[];
}

type Connect = (configure?: (client: Client) => void) => Promise<Connected>;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function makeClient(configure: (client: Client) => void = () => {}) {
  const errors: Error[] = [];
  const capabilities = {
    elicitation: { form: {}, url: {} },
    sampling: { tools: {} },
    roots: { listChanged: true },
  };
  const client = new Client({ name: "official", version: "1.0.0" }, { capabilities });
  client.onerror = (error) => void errors.push(error);
  configure(client);
  closing.push(() => client.close());
  return { client, errors };
}

async function overHttp(binding: string, sessions: object | false, configure?: (client: Client) => void) {
  const server: Server = everythingServer();
  const endpoint = await ENDPOINTS[binding]!(server, { legacy: { sessions: sessions as false } });
  closing.push(endpoint.close);
  const made = makeClient(configure);
  const transport = new StreamableHTTPClientTransport(new URL(endpoint.url), {
    reconnectionOptions: {
      initialReconnectionDelay: 20,
      maxReconnectionDelay: 20,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 5,
    },
  });
  await made.client.connect(transport as Parameters<Client["connect"]>[0]);
  return {
    ...made,
    server,
    transport,
    async change() {
      server.tool("changed", {}, () => "changed").remove();
      server.resourceUpdated("note://1");
    },
  };
}

const CONNECT: Record<string, Connect> = {
  async stdio(configure) {
    const made = makeClient(configure);
    const stderr: string[] = [];
    const transport = new StdioClientTransport({ command: process.execPath, args: [file], stderr: "pipe" });
    transport.stderr?.on("data", (chunk) => stderr.push(String(chunk)));
    await made.client.connect(transport);
    return { ...made, change: () => made.client.callTool({ name: "change" }) };
  },
  "HTTP with sessions": (configure) => overHttp("node:http", {}, configure),
  "HTTP with sessions, on web standards": (configure) => overHttp("web standards", {}, configure),
};

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";

describe.each(Object.keys(CONNECT))("over %s", (name) => {
  const connect = CONNECT[name]!;

  it("shakes hands, lists, calls, reads, prompts and completes", async () => {
    const { client, errors } = await connect();
    expect(client.getServerVersion()).toMatchObject({ name: "everything", title: "Everything" });
    expect(client.getInstructions()).toBe("Ask for anything.");
    await client.ping();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("add");
    // The client checks structured content against the schema of the tool.
    expect(await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).toMatchObject({
      structuredContent: { sum: 3 },
    });
    expect(textOf(await client.callTool({ name: "numbers" }))).toBe("[1,2,3]");
    expect(await client.callTool({ name: "fail" })).toMatchObject({ isError: true });
    expect((await client.callTool({ name: "mixed" })).content).toHaveLength(6);
    expect((await client.listResources()).resources).toHaveLength(3);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect((await client.readResource({ uri: "note://by-day/monday" })).contents).toMatchObject([
      { text: "notes of monday" },
    ]);
    await expect(client.readResource({ uri: "note://none" })).rejects.toMatchObject({ code: -32002 });
    await expect(client.callTool({ name: "nope" })).rejects.toMatchObject({ code: -32602 });
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    expect((await client.getPrompt({ name: "review", arguments: { code: "x" } })).messages).toHaveLength(4);
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "review" },
      argument: { name: "code", value: "f" },
    });
    expect(completion.values).toEqual(["f()"]);
    expect(errors).toEqual([]);
  });

  it("answers forms, pages, samples and roots", async () => {
    const asked: unknown[] = [];
    const { client, errors } = await connect((client) => {
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params);
        return params.mode === "url"
          ? { action: "accept" }
          : { action: "accept", content: { city: "Rome", extras: ["spa"] } };
      });
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
        role: "assistant",
        model: params.tools ? "with tools" : "without",
        content: { type: "text", text: "thought" },
      }));
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///a" }] }));
    });
    expect(JSON.parse(textOf(await client.callTool({ name: "book" })))).toEqual({
      action: "accept",
      content: { city: "Rome", extras: ["spa"] },
    });
    expect(JSON.parse(textOf(await client.callTool({ name: "visit" })))).toEqual({ action: "accept" });
    expect(JSON.parse(textOf(await client.callTool({ name: "think" })))).toMatchObject({ text: "thought" });
    expect(textOf(await client.callTool({ name: "agent" }))).toBe("with tools");
    expect(textOf(await client.callTool({ name: "where" }))).toBe("file:///a");
    expect(asked).toMatchObject([
      { requestedSchema: { type: "object" } },
      { mode: "url", elicitationId: expect.any(String) },
    ]);
    expect(errors).toEqual([]);
  });

  it("reports a question that its user rejects", async () => {
    const { client } = await connect((client) => {
      client.setRequestHandler(CreateMessageRequestSchema, () => {
        throw Object.assign(new Error("User rejected sampling request"), { code: -1 });
      });
    });
    await expect(client.callTool({ name: "think" })).rejects.toThrow("User rejected sampling request");
    // Nobody answers forms here: the tool goes on as if the form had been closed.
    expect(JSON.parse(textOf(await client.callTool({ name: "book" })))).toEqual({ action: "cancel" });
  });

  it("hears progress, logs at its level, and changes", async () => {
    const logs: unknown[] = [];
    const changes: string[] = [];
    const { client, change, errors } = await connect((client) => {
      client.setNotificationHandler(
        LoggingMessageNotificationSchema,
        ({ params }) => void logs.push(params.data),
      );
      client.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void changes.push(params.uri),
      );
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes.push("tools"));
    });
    const steps: number[] = [];
    // This client forgets whom progress is for as soon as it reads the response: the two must not arrive together.
    const call = { name: "count", arguments: { to: 3, pauseMs: 100 } };
    await client.callTool(call, undefined, { onprogress: ({ progress }) => void steps.push(progress) });
    expect(steps).toEqual([1, 2, 3]);
    await vi.waitFor(() => expect(logs).toEqual([{ counted: 3 }]));
    await client.setLoggingLevel("debug");
    await client.callTool(call);
    await vi.waitFor(() => expect(logs).toEqual([{ counted: 3 }, { counted: 3 }, "details"]));
    await client.subscribeResource({ uri: "note://1" });
    await change();
    await vi.waitFor(() => expect([...changes].sort()).toEqual(["note://1", "tools", "tools"].sort()));
    await client.unsubscribeResource({ uri: "note://1" });
    changes.length = 0;
    await change();
    await vi.waitFor(() => expect(changes.length).toBeGreaterThan(0));
    expect(changes).not.toContain("note://1");
    expect(errors).toEqual([]);
  });

  it("cancels a call that waits for an answer, and goes on", async () => {
    const asked = vi.fn(() => new Promise<never>(() => {}));
    const { client } = await connect((client) => client.setRequestHandler(ElicitRequestSchema, asked));
    const cancel = new AbortController();
    const call = client.callTool({ name: "book" }, undefined, { signal: cancel.signal });
    const rejected = expect(call).rejects.toThrow("changed my mind");
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    cancel.abort("changed my mind");
    await rejected;
    expect(await client.callTool({ name: "add", arguments: { a: 1, b: 1 } })).toMatchObject({
      structuredContent: { sum: 2 },
    });
  });
});

describe("over HTTP with sessions", () => {
  it("comes back for a response after its connection broke, and does not come back for ever", async () => {
    const requests: string[] = [];
    const { client, server, transport } = await overHttp("node:http", {});
    let release = (): void => {};
    server.tool("wait", {}, (_args, ctx) => {
      ctx.log("info", "waiting");
      return new Promise((resolve) => {
        release = () => resolve("waited");
      });
    });
    // The connection of the call is cut as soon as it has brought something.
    const own = globalThis.fetch;
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
      const response = await own(url, init);
      requests.push(`${init?.method} ${new Headers(init?.headers).get("last-event-id") ?? ""}`);
      if (init?.method !== "POST" || !String(init.body).includes('"wait"')) return response;
      const reader = response.body!.getReader();
      const body = new ReadableStream({
        async start(controller) {
          let seen = "";
          while (!seen.includes("waiting")) {
            const { value } = await reader.read();
            seen += new TextDecoder().decode(value);
            controller.enqueue(value);
          }
          await reader.cancel();
          controller.error(new Error("the network is gone"));
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    });
    const answer = client.callTool({ name: "wait" });
    await vi.waitFor(() => expect(requests.some((line) => /^GET .+-\d+$/.test(line))).toBe(true));
    release();
    expect(textOf(await answer)).toBe("waited");
    // An error response ends a stream as well; the client asks for more once, and hears that there is none.
    await expect(client.callTool({ name: "nope" })).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = requests.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(requests.length).toBe(before);
    spy.mockRestore();
    await transport.terminateSession();
  });

  it("ends its session", async () => {
    const { client, transport } = await overHttp("node:http", {});
    expect(transport.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    await transport.terminateSession();
    await expect(client.listTools()).rejects.toThrow();
  });
});

describe.each(Object.keys(ENDPOINTS))("over HTTP without sessions, on %s", (binding) => {
  it("lists, calls and hears progress; a question says what is missing", async () => {
    const { client, transport, errors } = await overHttp(binding, false);
    expect(transport.sessionId).toBeUndefined();
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
    const counted = await client.callTool({ name: "count", arguments: { to: 2 } }, undefined, { onprogress });
    expect(textOf(counted)).toBe("counted to 2");
    expect(steps).toEqual([1, 2]);
    await client.setLoggingLevel("error");
    await expect(client.callTool({ name: "book" })).rejects.toThrow(/elicitation/);
    expect(errors).toEqual([]);
  });
});
