/** The official reference server, `@modelcontextprotocol/server-everything`, over each of its transports: all that it has. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Client, type ClientOptions, type ConnectTarget, connect } from "../../../src/entry/client.js";
import type { ResourceContents } from "../../../src/protocol/features.js";
import type { ElicitFormParams } from "../../../src/protocol/input-requests.js";
import { textOf } from "./old-server.js";

const require = createRequire(import.meta.url);
const program = join(
  dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);
const ownPort = pathToFileURL(fileURLToPath(new URL("./fixtures/own-port.mjs", import.meta.url))).href;

const PATHS = { streamableHttp: "/mcp", sse: "/sse" } as const;
const processes: ChildProcess[] = [];
const urls = new Map<string, string>();

async function serve(kind: keyof typeof PATHS): Promise<void> {
  const child = spawn(process.execPath, ["--import", ownPort, program, kind], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  processes.push(child);
  const [port] = (await once(child, "message")) as [number];
  urls.set(kind, `http://127.0.0.1:${port}${PATHS[kind]}`);
}

beforeAll(async () => {
  await Promise.all([serve("streamableHttp"), serve("sse")]);
});
afterAll(async () => {
  for (const child of processes) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

let client: Client | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

async function open(kind: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const target: ConnectTarget = urls.get(kind) ?? { command: process.execPath, args: [program, "stdio"] };
  client = await connect(target, {
    name: "test",
    version: "1.0.0",
    limits: { probeTimeoutMs: 15_000 },
    onWarning: ({ message }) => expect.unreachable(message),
    ...options,
  });
  return client;
}

/** What a person would have filled in. */
function fill({ requestedSchema }: ElicitFormParams) {
  const values: Record<string, string | number | boolean | string[]> = {};
  for (const [name, field] of Object.entries(requestedSchema.properties)) {
    const { type, format, items } = field as { type: string; format?: string; items?: unknown };
    const options = (items ?? field) as {
      enum?: string[];
      oneOf?: { const: string }[];
      anyOf?: { const: string }[];
    };
    const choice = options.enum?.at(-1) ?? (options.oneOf ?? options.anyOf)?.at(-1)?.const;
    if (type === "array") values[name] = [choice as string];
    else if (choice !== undefined) values[name] = choice;
    else if (type === "boolean") values[name] = true;
    else if (type === "integer" || type === "number") values[name] = 7;
    else if (format === "email") values[name] = "ann@example.com";
    else if (format === "uri") values[name] = "https://example.com/";
    else if (format === "date") values[name] = "2000-01-02";
    else values[name] = "Ann";
  }
  return values;
}

const handlers = {
  onElicit: (request: ElicitFormParams) => ({ action: "accept" as const, content: fill(request) }),
  onElicitUrl: () => ({ action: "accept" as const }),
  onSample: () => ({
    role: "assistant" as const,
    model: "test-model",
    content: { type: "text" as const, text: "Aye." },
  }),
  roots: [{ uri: "file:///home/ann", name: "Home" }],
};

const EVERYONE = [
  "echo",
  "get-annotated-message",
  "get-env",
  "get-resource-links",
  "get-resource-reference",
  "get-structured-content",
  "get-sum",
  "get-tiny-image",
  "gzip-file-as-resource",
  "toggle-simulated-logging",
  "toggle-subscriber-updates",
  "trigger-long-running-operation",
];
const CAPABLE = [
  "get-roots-list",
  "trigger-elicitation-request",
  "trigger-url-elicitation",
  "trigger-sampling-request",
  "simulate-research-query",
];

describe.each(["stdio", "streamableHttp", "sse"])("over %s", (kind) => {
  it("is found, and says who it is", async () => {
    const { era, protocolVersion, serverInfo, serverCapabilities, instructions } = await open(kind);
    expect(protocolVersion).toBe("2025-11-25");
    expect(serverInfo).toMatchObject({
      name: "mcp-servers/everything",
      title: "Everything Reference Server",
    });
    expect(serverCapabilities).toMatchObject({
      logging: {},
      completions: {},
      resources: { subscribe: true },
    });
    expect(instructions).toContain("Everything");
    const remarks: Record<string, [string, RegExp]> = {
      stdio: ["legacy_error", /^initialize: 2025-11-25$/],
      streamableHttp: ["legacy_error", /^initialize: 2025-11-25 \(Streamable HTTP with a session\)$/],
      sse: ["http_status", /^initialize: 2025-11-25 \(HTTP\+SSE, with messages to \/message\)$/],
    };
    const [branch, last] = remarks[kind] as [string, RegExp];
    expect(era.branch).toBe(branch);
    expect(era.saw.at(-1)).toMatch(last);
    await client?.close();
    const again = await open(kind);
    expect(again.era).toMatchObject({ branch: "remembered", saw: [expect.stringMatching(last)] });
  });

  it("offers what it offers to a client that can do nothing", async () => {
    const { listTools, callTool } = await open(kind);
    const { tools, leftOut } = await listTools();
    // One of those that depend on the client only says that it wants tasks.
    expect(tools.map(({ name }) => name)).toEqual([...EVERYONE, "simulate-research-query"]);
    expect(leftOut).toEqual([]);
    expect(await callTool("trigger-elicitation-request")).toMatchObject({ isError: true });
  });

  it("calls every tool that needs nothing of its client", async () => {
    const { callTool, listTools, readResource } = await open(kind);
    await listTools();
    expect(textOf(await callTool("echo", { message: "größe" }))).toBe("Echo: größe");
    expect(textOf(await callTool("get-sum", { a: 1, b: 2 }))).toContain("3");
    expect(await callTool("get-sum", { a: "1" })).toMatchObject({ isError: true });
    expect(JSON.parse(textOf(await callTool("get-env")))).toHaveProperty("PATH");
    expect(
      (await callTool("get-annotated-message", { messageType: "error", includeImage: true })).content,
    ).toMatchObject([
      { type: "text", annotations: { priority: 1, audience: ["user", "assistant"] } },
      { type: "image", mimeType: "image/png", annotations: { priority: 0.5 } },
    ]);
    expect((await callTool("get-tiny-image")).content.map(({ type }) => type)).toContain("image");
    const links = (await callTool("get-resource-links", { count: 4 })).content;
    expect(links.map(({ type }) => type)).toEqual(["text", ...Array(4).fill("resource_link")]);
    const reference = (await callTool("get-resource-reference", { resourceType: "Blob", resourceId: 3 }))
      .content;
    expect(reference[1]).toMatchObject({
      type: "resource",
      resource: { uri: "demo://resource/dynamic/blob/3" },
    });
    const weather = await callTool("get-structured-content", { location: "Chicago" });
    expect(weather.structuredContent).toMatchObject({ temperature: 36, humidity: 82 });
    const zipped = await callTool("gzip-file-as-resource", {
      name: `${kind}.gz`,
      data: "data:text/plain,hello",
      outputType: "resourceLink",
    });
    const [link] = zipped.content as unknown as [{ uri: string }];
    const [{ blob }] = (await readResource(link.uri)).contents as [ResourceContents & { blob: string }];
    expect(gunzipSync(Buffer.from(blob, "base64")).toString()).toBe("hello");
  });

  it("reports the progress of what takes long, and is told when that is not wanted any more", async () => {
    const { callTool } = await open(kind);
    const steps: unknown[] = [];
    const result = await callTool(
      "trigger-long-running-operation",
      { duration: 0.4, steps: 4 },
      { onProgress: ({ progress, total }) => steps.push([progress, total]) },
    );
    expect(textOf(result)).toContain("completed");
    expect(steps).toEqual([
      [1, 4],
      [2, 4],
      [3, 4],
      [4, 4],
    ]);
    const controller = new AbortController();
    const endless = callTool(
      "trigger-long-running-operation",
      { duration: 1_000, steps: 10_000 },
      { signal: controller.signal, onProgress: () => controller.abort() },
    );
    await expect(endless).rejects.toMatchObject({ code: "aborted" });
    expect(textOf(await callTool("echo", { message: "still there" }))).toContain("still there");
  });

  it("lists and reads resources, templates and prompts, and completes their arguments", async () => {
    const { listResources, listResourceTemplates, readResource, listPrompts, getPrompt, complete } =
      await open(kind);
    const { resources } = await listResources();
    expect(resources.length).toBeGreaterThan(5);
    for (const { uri } of resources.filter(({ uri }) => uri.includes("/static/"))) {
      expect((await readResource(uri)).contents).toMatchObject([{ uri, mimeType: "text/markdown" }]);
    }
    const { resourceTemplates } = await listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "demo://resource/dynamic/text/{resourceId}",
      "demo://resource/dynamic/blob/{resourceId}",
    ]);
    expect((await readResource("demo://resource/dynamic/text/5")).contents[0]).toMatchObject({
      text: expect.stringContaining("Resource 5"),
    });
    await expect(readResource("demo://resource/none")).rejects.toMatchObject({ code: "protocol_error" });

    const { prompts } = await listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      "simple-prompt",
      "args-prompt",
      "completable-prompt",
      "resource-prompt",
    ]);
    expect((await getPrompt("simple-prompt")).messages).toHaveLength(1);
    expect(JSON.stringify((await getPrompt("args-prompt", { city: "Oslo" })).messages)).toContain("Oslo");
    const [, second] = (await getPrompt("resource-prompt", { resourceType: "Text", resourceId: "2" }))
      .messages;
    expect(second).toMatchObject({ content: { resource: { uri: "demo://resource/dynamic/text/2" } } });
    expect(
      JSON.stringify(await getPrompt("completable-prompt", { department: "Sales", name: "Eve" })),
    ).toContain("Eve");
    const ref = { type: "ref/prompt", name: "completable-prompt" } as const;
    expect((await complete(ref, { name: "department", value: "S" })).completion.values).toEqual([
      "Sales",
      "Support",
    ]);
    expect(
      (await complete(ref, { name: "name", value: "" }, { department: "Sales" })).completion.values,
    ).toEqual(["David", "Eve", "Frank"]);
    const template = { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" } as const;
    expect((await complete(template, { name: "resourceId", value: "4" })).completion.values).toEqual(["4"]);
  });

  it("asks for forms, pages, samples and roots, and is answered", async () => {
    const urlsAsked: string[] = [];
    const { callTool, listTools } = await open(kind, {
      ...handlers,
      onElicitUrl: ({ url }) => {
        urlsAsked.push(url);
        return { action: "accept" };
      },
    });
    const { tools } = await listTools();
    expect(tools.map(({ name }) => name)).toEqual([...EVERYONE, ...CAPABLE]);
    const form = await callTool("trigger-elicitation-request");
    expect(form.content[0]).toMatchObject({
      text: expect.stringContaining("provided the requested information"),
    });
    expect(JSON.stringify(form.content)).toContain("ann@example.com");
    const sample = await callTool("trigger-sampling-request", { prompt: "Well?", maxTokens: 10 });
    expect(textOf(sample)).toContain("Aye.");
    expect(textOf(await callTool("get-roots-list"))).toContain("file:///home/ann");
    const page = { url: "https://example.com/pay", message: "Pay" };
    expect(textOf(await callTool("trigger-url-elicitation", page))).toContain(
      "completed the URL elicitation",
    );
    expect(urlsAsked).toEqual(["https://example.com/pay"]);
    // The same as a refusal, which goes away once another page has been visited.
    const second = { ...page, url: "https://example.com/again", errorPath: true };
    expect(textOf(await callTool("trigger-url-elicitation", second))).toContain(
      "completed the URL elicitation",
    );
    expect(urlsAsked.slice(1)).toEqual(["https://modelcontextprotocol.io", "https://example.com/again"]);
    // It wants to be called as a task, which is no part of this client.
    expect(textOf(await callTool("simulate-research-query", { topic: "bees" }))).toContain("requires task");
  });

  it("is declined, cancelled and left without an answer", async () => {
    const answers = [{ action: "decline" }, { action: "cancel" }] as const;
    let next = 0;
    const { callTool } = await open(kind, {
      onElicit: () => {
        const answer = answers[next++];
        if (answer) return answer;
        throw new Error("out of office");
      },
    });
    expect(textOf(await callTool("trigger-elicitation-request"))).toContain("declined");
    expect(textOf(await callTool("trigger-elicitation-request"))).toContain("cancelled");
    await expect(callTool("trigger-elicitation-request")).rejects.toMatchObject({
      code: "input_unavailable",
    });
    expect(textOf(await callTool("echo", { message: "on" }))).toBe("Echo: on");
  });

  it("tells of changes to the resources that are subscribed to, and of new ones", async () => {
    const { callTool, listen } = await open(kind);
    const subscription = listen({
      resourcesListChanged: true,
      resourceSubscriptions: ["demo://resource/dynamic/text/1"],
    });
    expect(await subscription.acknowledged).toEqual({
      resourcesListChanged: true,
      resourceSubscriptions: ["demo://resource/dynamic/text/1"],
    });
    await callTool("toggle-subscriber-updates");
    expect(await subscription.next()).toMatchObject({
      value: { type: "resourceUpdated", uri: "demo://resource/dynamic/text/1" },
    });
    await callTool("gzip-file-as-resource", { name: `${kind}-2.gz`, data: "data:text/plain,hello" });
    expect(await subscription.next()).toMatchObject({ value: { type: "resourcesListChanged" } });
    await callTool("toggle-subscriber-updates");
    await subscription.close();
  });

  it("sends log messages of the level that is asked for", async () => {
    const logs: { level: string; data: unknown }[] = [];
    const { callTool, listen } = await open(kind, {
      onLog: (message) => logs.push(message),
      logLevel: "debug",
    });
    // What it logs on a timer belongs to no request, and goes to whoever listens.
    const subscription = listen({ toolsListChanged: true });
    await subscription.acknowledged;
    await callTool("toggle-simulated-logging");
    await vi.waitFor(() => expect(logs).toHaveLength(1), 10_000);
    expect(logs[0]?.data).toMatch(/message/);
    await callTool("toggle-simulated-logging");
  });
});
