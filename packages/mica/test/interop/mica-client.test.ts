/** Mica's client against a server that is not Mica's: `@modelcontextprotocol/server` 2.4 over stdio and HTTP. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/entry/client.js";

const file = fileURLToPath(new URL("fixtures/official-server.mjs", import.meta.url));
type Client = Awaited<ReturnType<typeof connect>>;

let http: ChildProcess;
let url: string;
beforeAll(async () => {
  http = spawn(process.execPath, [file, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(http.stdout!, "data")) as [Buffer];
  url = `http://127.0.0.1:${String(port).trim()}/mcp`;
});
afterAll(() => void http.kill());

describe.each(["stdio", "http"])("over %s", (transport) => {
  let client: Client | undefined;
  afterEach(async () => {
    await client?.close();
    client = undefined;
  });

  async function open(options: Partial<Parameters<typeof connect>[1]> = {}): Promise<Client> {
    const target = transport === "http" ? url : { command: process.execPath, args: [file] };
    client = await connect(target, { name: "interop", version: "1.0.0", ...options });
    return client;
  }

  it("discovers, lists, calls, reads, gets a prompt and completes", async () => {
    const { listTools, callTool, ...rest } = await open();
    expect(rest.serverInfo).toMatchObject({ name: "official-incidents" });
    expect(rest.protocolVersion).toBe("2026-07-28");
    const { tools } = await listTools();
    expect(tools.map(({ name }) => name)).toEqual(["open_incident", "fail", "slow", "region", "confirm"]);
    const opened = await callTool("open_incident", { title: `Disk full ${transport}` });
    expect(opened.structuredContent).toMatchObject({ id: expect.stringMatching(/^INC-\d+$/) });
    expect(await callTool("fail")).toMatchObject({ isError: true });
    const read = await rest.readResource("incidents://open");
    expect(JSON.stringify(read.contents)).toContain(`Disk full ${transport}`);
    expect((await rest.listResourceTemplates()).resourceTemplates[0]?.uriTemplate).toBe("incidents://{id}");
    expect((await rest.readResource("incidents://INC-9")).contents[0]).toMatchObject({ text: "INC-9" });
    expect((await rest.listPrompts()).prompts.map(({ name }) => name)).toEqual(["postmortem"]);
    const prompt = await rest.getPrompt("postmortem", { id: "INC-1" });
    expect(prompt.messages[0]?.content).toMatchObject({ text: "Write the postmortem of INC-1." });
    const completed = await rest.complete(
      { type: "ref/prompt", name: "postmortem" },
      { name: "id", value: "INC-1" },
    );
    expect(completed.completion.values).toContain("INC-1");
  });

  it("mirrors arguments into headers and answers questions", async () => {
    const { callTool } = await open({ onElicit: async () => ({ action: "accept", content: { yes: true } }) });
    expect((await callTool("region", { region: "zürich" })).content).toEqual([
      { type: "text", text: "zürich" },
    ]);
    const [answer] = (await callTool("confirm")).content;
    expect(JSON.parse((answer as { text: string }).text)).toEqual({
      action: "accept",
      content: { yes: true },
    });
  });

  it("receives progress in order", async () => {
    const { callTool } = await open();
    const seen: number[] = [];
    await callTool("slow", {}, { onProgress: ({ progress }) => void seen.push(progress) });
    expect(seen).toEqual([1, 2, 3]);
  });

  it("receives a resource update", async () => {
    const { listen, callTool } = await open();
    const subscription = listen({ resourceSubscriptions: ["incidents://open"] });
    expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: ["incidents://open"] });
    await callTool("open_incident", { title: "Update me" });
    for await (const event of subscription) {
      expect(event).toMatchObject({ uri: "incidents://open" });
      break;
    }
  });

  it("reports an unknown tool as a protocol error with its code", async () => {
    const { callTool } = await open();
    await expect(callTool("nope")).rejects.toMatchObject({ code: "protocol_error", cause: { code: -32602 } });
  });
});
