/** What `mica-mcp/testing` offers to whoever writes requests by hand: headers for HTTP, lines for a process. */
import { describe, expect, it } from "vitest";
import { httpHeaders, type LineChannel, launchLines, METHODS } from "../../src/entry/testing.js";
import { serveHttp } from "../../src/http/serve.js";
import { createServer } from "../../src/server/server.js";

const inputSchema = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" }, text: { type: "string" } },
};
const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("httpHeaders", () => {
  it("are all that a server wants to see", async () => {
    const server = createServer({ name: "test", version: "1.0.0" });
    server.tool("weigh", { input: inputSchema }, ({ region }) => String(region));
    const http = await serveHttp(server, { port: 0 });
    try {
      const params = { name: "weigh", arguments: { region: "Süd", text: "x" }, _meta };
      const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      const post = (headers: Record<string, string>) =>
        fetch(http.url, { method: "POST", headers, body: JSON.stringify(request) });
      const answered = await post(httpHeaders(request, inputSchema));
      expect(answered.status).toBe(200);
      expect(await answered.json()).toMatchObject({ result: { content: [{ text: "Süd" }] } });
      const without = await post(httpHeaders(request));
      expect(await without.json()).toMatchObject({ error: { code: -32020 } });
    } finally {
      await http.close();
    }
  });

  it("refuse what cannot stand in one", () => {
    const args = { region: "\ud800" };
    const request = { method: "tools/call", params: { name: "t", arguments: args, _meta } };
    expect(() => httpHeaders(request, inputSchema)).toThrow(
      new TypeError(
        'arguments.region: expected well-formed Unicode, because it is mirrored into mcp-param-region; got "\\ud800"',
      ),
    );
  });
});

describe("launchLines", () => {
  const run = (code: string) => {
    const lines: string[] = [];
    const stderr: string[] = [];
    let channel!: LineChannel;
    const ended = new Promise<object>((resolve) => {
      channel = launchLines({
        command: process.execPath,
        args: ["-e", code],
        onLine: (line) => lines.push(line),
        onStderr: (line) => stderr.push(line),
        onEnd: resolve,
      });
    });
    return { lines, stderr, ended, channel };
  };

  it("passes lines both ways, whatever they say, and tells how the process ended", async () => {
    const { lines, stderr, ended, channel } = run(
      'process.stderr.write("hello\\n"); process.stdin.once("data", (d) => { process.stdout.write("got " + d); process.exitCode = 7; process.stdin.destroy(); })',
    );
    channel.send("no JSON at all");
    expect(await ended).toEqual({ exitCode: 7, signal: null, stderr: ["hello"], startError: undefined });
    expect({ lines, stderr }).toEqual({ lines: ["got no JSON at all"], stderr: ["hello"] });
    channel.send("to nobody");
    await channel.close();
  });

  it("says that a program cannot be started, and refuses options that are unusable", async () => {
    const ended = new Promise<{ startError: Error | undefined }>((onEnd) => {
      launchLines({ command: "/nowhere/at/all", onLine() {}, onEnd });
    });
    expect((await ended).startError?.message).toContain("ENOENT");
    expect(() => launchLines({ command: "", onLine() {}, onEnd() {} })).toThrow(TypeError);
  });
});

it("METHODS names the header member of every method that has one", () => {
  expect(METHODS.get("tools/call")?.nameParam).toBe("name");
  expect(METHODS.get("resources/read")?.nameParam).toBe("uri");
  expect(METHODS.has("initialize")).toBe(false);
});
