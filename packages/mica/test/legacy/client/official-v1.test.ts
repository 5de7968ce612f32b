/** Servers made with `@modelcontextprotocol/sdk` 1.x, which speak 2025-11-25: over stdio, and HTTP in all its shapes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Client, type ClientOptions, connect } from "../../../src/entry/client.js";
import { textOf } from "./old-server.js";

const program = fileURLToPath(new URL("./fixtures/official-v1.mjs", import.meta.url));
const HTTP = ["http", "http=json", "http=stateless", "http=polling"];
const processes: ChildProcess[] = [];
const urls = new Map<string, string>();

beforeAll(async () => {
  await Promise.all(
    HTTP.map(async (kind) => {
      const child = spawn(process.execPath, [program, `--${kind}`], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      processes.push(child);
      const [port] = (await once(child, "message")) as [number];
      urls.set(kind, `http://127.0.0.1:${port}/mcp`);
    }),
  );
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
  client = await connect(urls.get(kind) ?? { command: process.execPath, args: [program] }, {
    name: "test",
    version: "1.0.0",
    limits: { probeTimeoutMs: 15_000 },
    onWarning: ({ message }) => expect.unreachable(message),
    ...options,
  });
  return client;
}

const handlers = {
  onElicit: async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { action: "accept" as const, content: { name: "Ann" } };
  },
  onSample: () => ({
    role: "assistant" as const,
    model: "m",
    content: { type: "text" as const, text: "Aye." },
  }),
  roots: [{ uri: "file:///home/ann" }],
};
const ANN = { action: "accept", content: { name: "Ann" } };

describe.each(["stdio", ...HTTP])("over %s", (kind) => {
  it("is found and spoken to", async () => {
    const { era, serverInfo, instructions, listTools, callTool } = await open(kind);
    expect(era).toMatchObject({ era: "legacy", revision: "2025-11-25" });
    expect(serverInfo).toEqual({ name: "official", version: "1.0.0" });
    expect(instructions).toBe("Official.");
    expect((await listTools()).tools.map(({ name }) => name)).toContain("ask_three");
    expect(textOf(await callTool("add", { a: 1, b: 2 }))).toBe("3");
    expect((await callTool("structured")).structuredContent).toEqual({ sum: 3 });
    expect(await callTool("fail")).toMatchObject({ isError: true, content: [{ text: "It does not work." }] });
    const many = await Promise.all(Array.from({ length: 30 }, (_, a) => callTool("add", { a, b: 0 })));
    expect(many.map(textOf)).toEqual(Array.from({ length: 30 }, (_, a) => String(a)));
  });

  // Without the stream of a request there is no way to ask as a part of it.
  it.skipIf(kind === "http=json" || kind === "http=stateless")("asks, and is answered", async () => {
    const { callTool } = await open(kind, handlers);
    expect(JSON.parse(textOf(await callTool("ask")))).toEqual(ANN);
    expect(JSON.parse(textOf(await callTool("ask_apart")))).toEqual(ANN);
    const [form, sample, roots] = JSON.parse(textOf(await callTool("ask_three"))) as unknown[];
    expect(form).toEqual(ANN);
    expect(sample).toMatchObject({ model: "m", content: { text: "Aye." } });
    expect(roots).toEqual({ roots: [{ uri: "file:///home/ann" }] });
    const results = await Promise.all([callTool("ask"), callTool("ask_apart"), callTool("ask_three")]);
    expect(results.map((result) => result.isError ?? false)).toEqual([false, false, false]);
  });

  it.skipIf(kind === "http=json")("reports progress and log messages", async () => {
    const { callTool } = await open(kind);
    const progress: number[] = [];
    const logs: unknown[] = [];
    await callTool(
      "report",
      {},
      { onProgress: (one) => progress.push(one.progress), onLog: ({ data }) => logs.push(data) },
    );
    expect([progress, logs]).toEqual([[1, 2], ["note"]]);
  });

  it.skipIf(kind === "http=stateless")(
    "hears that a request is not wanted any more, and tells of changes",
    async () => {
      const { callTool, listen } = await open(kind);
      const before = Number(textOf(await callTool("aborted")));
      const controller = new AbortController();
      const slow = callTool("slow", {}, { signal: controller.signal }).catch((error: unknown) => error);
      setTimeout(() => controller.abort(), 50);
      expect(await slow).toMatchObject({ code: "aborted" });
      await vi.waitFor(
        async () => expect(Number(textOf(await callTool("aborted")))).toBe(before + 1),
        10_000,
      );

      const subscription = listen({ toolsListChanged: true });
      expect(await subscription.acknowledged).toEqual({ toolsListChanged: true });
      await callTool("grow");
      expect(await subscription.next()).toMatchObject({ value: { type: "toolsListChanged" } });
      await subscription.close();
    },
  );
});

it("a server that answers without streams asks on its own", async () => {
  const { callTool } = await open("http=json", handlers);
  expect(JSON.parse(textOf(await callTool("ask_apart")))).toEqual(ANN);
});

it("a stream that is closed on the way is taken up again", async () => {
  const { callTool } = await open("http=polling");
  expect(textOf(await callTool("poll"))).toBe("polled");
});

it("a session that the server has forgotten is made again, and subscriptions with it", async () => {
  const { callTool, listen } = await open("http");
  const subscription = listen({ toolsListChanged: true });
  await subscription.acknowledged;
  await fetch(new URL("/sessions", urls.get("http")), { method: "DELETE" });
  expect(textOf(await callTool("add", { a: 2, b: 2 }))).toBe("4");
  expect(await subscription.next()).toMatchObject({ value: { type: "reopened" } });
  await callTool("grow");
  expect(await subscription.next()).toMatchObject({ value: { type: "toolsListChanged" } });
});
