/**
 * A client that is not Mica's (`@modelcontextprotocol/client` 2.4) against what `npm start` serves, over HTTP, and
 * against the same command over stdio. Runs what has been built (`npm test` builds first).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const inRepository = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "incidents-"));
let started: ChildProcess;
let ended: Promise<number | string | null>;
let url: string;

beforeAll(async () => {
  const args = [
    inRepository("scripts/start.mjs"),
    "--http",
    "127.0.0.1:0",
    "--database",
    join(folder, "http.sqlite"),
  ];
  started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  ended = new Promise((resolve) => started.once("exit", (code, signal) => resolve(code ?? signal)));
  url = await new Promise((resolve, reject) => {
    let said = "";
    started.stdout!.on("data", (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said);
      if (found) resolve(found[0]);
    });
    void ended.then((how) => reject(new Error(`npm start's command ended with ${how}:\n${said}`)));
  });
});

afterAll(async () => {
  started.kill("SIGTERM");
  expect(await ended).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

describe.each(["HTTP", "stdio"])("the official client over %s", (transport) => {
  it("lists, calls, reads, gets a prompt and receives a resource update", async () => {
    const client = new Client(
      { name: "interop", version: "1.0.0" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    await client.connect(
      transport === "HTTP"
        ? new StreamableHTTPClientTransport(new URL(url))
        : new StdioClientTransport({
            command: process.execPath,
            args: [
              inRepository("servers/incidents/dist/incidents-mcp.js"),
              "--database",
              join(folder, "stdio.sqlite"),
            ],
          }),
    );
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        "search_incidents",
        "open_incident",
        "resolve_incident",
      ]);
      const updates: string[] = [];
      client.setNotificationHandler(
        "notifications/resources/updated",
        ({ params }) => void updates.push(params.uri),
      );
      const subscription = await client.listen({ resourceSubscriptions: ["incidents://open"] });
      expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: ["incidents://open"] });

      const opened = await client.callTool({
        name: "open_incident",
        arguments: { title: "Queue backed up", severity: "sev2" },
      });
      const { id } = JSON.parse(textOf(opened)) as { id: string };
      expect(id).toBe("INC-1");
      await expect.poll(() => updates, { timeout: 5000 }).toContain("incidents://open");
      await subscription.close();

      const found = await client.callTool({ name: "search_incidents", arguments: { text: "queue" } });
      expect(textOf(found)).toContain(id);
      const { contents } = await client.readResource({ uri: "incidents://open" });
      expect(JSON.stringify(contents)).toContain("Queue backed up");
      const prompt = await client.getPrompt({ name: "postmortem", arguments: { id } });
      expect(JSON.stringify(prompt.messages)).toContain(id);
      const completed = await client.complete({
        ref: { type: "ref/prompt", name: "postmortem" },
        argument: { name: "id", value: "INC" },
      });
      expect(completed.completion.values).toEqual([id]);

      const resolved = await client.callTool({
        name: "resolve_incident",
        arguments: { id, cause: "A stuck consumer." },
      });
      expect(textOf(resolved)).toContain("A stuck consumer.");
      const wrong = await client.callTool({
        name: "open_incident",
        arguments: { title: 5, severity: "bad" },
      });
      expect(wrong.isError).toBe(true);
      expect(textOf(wrong)).toMatch(/title[\s\S]*severity/);
      await expect(client.callTool({ name: "nope", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    } finally {
      await client.close();
    }
  });
});

function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]!.text;
}
