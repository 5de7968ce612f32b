/**
 * A client that is not Mica's (`@modelcontextprotocol/client` 2.4) completes the calendar's questions over stdio and
 * HTTP: asked without a date, answered, declined, and read back.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtFiles } from "../../kit/test/process.js";

const folder = mkdtempSync(join(tmpdir(), "calendar-official-"));
const built = builtFiles(import.meta.url, "../src/calendar-mcp.ts");
let http: ChildProcess;
let url: string;

beforeAll(async () => {
  const args = [built("calendar-mcp.ts"), "--database", join(folder, "http.sqlite"), "--http", "127.0.0.1:0"];
  http = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  url = await new Promise((resolve, reject) => {
    let said = "";
    http.stdout!.on("data", (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said);
      if (found) resolve(found[0]);
    });
    http.once("exit", (code) => reject(new Error(`calendar-mcp ended with ${code}:\n${said}`)));
  });
});
afterAll(async () => {
  http.kill("SIGTERM");
  await new Promise((resolve) => http.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe.each(["HTTP", "stdio"])("over %s", (transport) => {
  it("asks, takes the answer, and shows the event", async () => {
    const client = new Client(
      { name: "interop", version: "1.0.0" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const asked: unknown[] = [];
    const answers = [
      { action: "accept" as const, content: { startsAt: "2026-09-10T08:30:00Z" } },
      { action: "decline" as const },
    ];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params);
      return answers.shift()!;
    });
    await client.connect(
      transport === "HTTP"
        ? new StreamableHTTPClientTransport(new URL(url))
        : new StdioClientTransport({
            command: process.execPath,
            args: [built("calendar-mcp.ts"), "--database", join(folder, "stdio.sqlite")],
          }),
    );
    try {
      const created = await client.callTool({ name: "create_event", arguments: { title: "Dentist" } });
      expect(JSON.stringify(created.content)).toContain("Dentist at 2026-09-10T08:30:00Z");
      expect(asked).toMatchObject([
        { message: expect.stringContaining("Dentist"), requestedSchema: { required: ["startsAt"] } },
      ]);
      const declined = await client.callTool({ name: "create_event", arguments: { title: "Dentist" } });
      expect(declined).toMatchObject({
        isError: true,
        content: [{ text: "No date was given, so nothing was created." }],
      });
      const { contents } = await client.readResource({ uri: "calendar://week/2026-09-09" });
      const events = JSON.parse((contents[0] as { text: string }).text) as { title: string }[];
      expect(events.map(({ title }) => title)).toEqual(["Dentist"]);
      const prompt = await client.getPrompt({ name: "prepare_week", arguments: { focus: "deep work" } });
      expect(JSON.stringify(prompt.messages)).toContain("deep work");
    } finally {
      await client.close();
    }
  });
});
