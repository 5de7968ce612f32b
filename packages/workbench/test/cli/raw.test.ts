/** `mica raw`: what is typed, what is filled in, what is on the wire. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server as HttpListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { converse, KEY } from "../converse.js";
import { makeServer } from "../fixtures/changing-server.js";
import { fixture, type RunOptions, runProgram, SCRIPT } from "../run-command.js";

let built: Built;
let script: string;
let http: HttpServer;
beforeAll(async () => {
  built = await buildCommand();
  script = await bundle("./fixtures/changing-stdio.ts", join(built.directory, "server"));
  http = await serveHttp(makeServer(), { port: 0 });
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close()]);
});

const mica = (args: readonly string[], options?: RunOptions) =>
  runProgram(process.execPath, [built.path, ...args], options);
const stdio = () => ["--", process.execPath, script];
/** What went over the wire, message by message. */
const wire = (stdout: string, mark: "<" | ">") =>
  stdout
    .split("\n")
    .filter((line) => line.startsWith(`${mark} {`))
    .map((line) => JSON.parse(line.slice(2)));

describe.each([
  ["stdio", () => ({ first: [] as string[], last: stdio() })],
  ["HTTP", () => ({ first: [http.url], last: [] as string[] })],
])("raw over %s", (_, target) => {
  const raw = (stdin: string, ...words: string[]) =>
    mica(["raw", ...target().first, ...words, ...target().last], { stdin });

  it("fills in what is missing, and keeps what is there", async () => {
    const { code, stdout } = await raw(
      [
        "tools/list",
        'tools/call {"name":"echo","arguments":{"text":"one"}}',
        '{"name":"echo","arguments":{"text":"two"}}',
        '{"id":"x","method":"resources/read","params":{"uri":"changing://note"}}',
        "# a comment",
        "",
      ].join("\n"),
    );
    expect(code).toBe(0);
    const sent = wire(stdout, ">");
    expect(sent.map(({ id, method }) => [id, method])).toEqual([
      [1, "tools/list"],
      [2, "tools/call"],
      [3, "tools/call"],
      ["x", "resources/read"],
    ]);
    expect(sent[2]).toEqual({
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: {
        name: "echo",
        arguments: { text: "two" },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "mica", version: "0.1.0" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });
    const came = wire(stdout, "<");
    expect(came.map(({ id, result }) => [id, result.resultType])).toEqual([
      [1, "complete"],
      [2, "complete"],
      [3, "complete"],
      ["x", "complete"],
    ]);
  });

  it("sends exactly what was written with --as-is", async () => {
    const { code, stdout } = await raw(
      '{"jsonrpc": "2.0",  "id":1, "method":"tools/list"}\n{"a":',
      "--as-is",
    );
    expect(code).toBe(0);
    expect(stdout).toContain('> {"jsonrpc": "2.0",  "id":1, "method":"tools/list"}\n');
    expect(stdout).toContain('> {"a":\n');
    const [first, second] = wire(stdout, "<");
    // Without a version it may come from a client of an earlier revision, over HTTP.
    if (target().first.length > 0) expect(first.result.tools).toHaveLength(6);
    else expect(first.error.code).toBe(-32602);
    expect(second.error.code).toBe(-32700);
  });

  it("says of a line that is no message which one it is, and sends nothing of it", async () => {
    const { code, stdout, stderr } = await raw('tools/list\n[1]\n{"id":2}');
    expect(code).toBe(2);
    expect(stderr).toBe('mica: line 2: expected a message, METHOD {params} or {params}, got "[1]"\n');
    expect(wire(stdout, ">")).toHaveLength(1);
    expect((await raw('{"name":"x"}')).stderr).toContain("expected a method before the first params");
    expect((await raw("tools/call {x}")).stderr).toContain("line 1: expected JSON: ");
  });

  it("speaks to a server of an earlier revision after a handshake", async () => {
    const { code, stdout } = await raw('tools/list\nlogging/setLevel {"level":"info"}', "--era", "legacy");
    expect(code).toBe(0);
    expect(wire(stdout, ">").map(({ method, params }) => [method, params?._meta])).toEqual([
      ["initialize", undefined],
      ["notifications/initialized", undefined],
      ["tools/list", undefined],
      ["logging/setLevel", undefined],
    ]);
    const came = wire(stdout, "<");
    expect(came[0].result.protocolVersion).toBe("2025-11-25");
    expect(came.find(({ id }) => id === 2).result.tools).toHaveLength(6);
  });

  it("goes on to the next line where the server asks something", async () => {
    const { code, stdout } = await raw(
      [
        'initialize {"capabilities":{"elicitation":{}}}',
        "notifications/initialized",
        'tools/call {"name":"ask"}',
        '{"id":ID,"result":{"action":"decline"}}',
      ]
        .join("\n")
        .replace("ID", "1"),
    );
    // Over HTTP without sessions an earlier client cannot be asked, and is told so.
    if (target().first.length > 0) return expect(code).toBe(0);
    const asked = wire(stdout, "<").find(({ method }) => method === "elicitation/create");
    expect(asked).toMatchObject({ params: { message: "Sure?" } });
    expect(wire(stdout, ">").at(-1)).toMatchObject({ jsonrpc: "2.0", result: { action: "decline" } });
  });

  it("prints all of it as JSON", async () => {
    const { code, stdout } = await raw("server/discover", "--json");
    expect(code).toBe(0);
    const { verb, result } = JSON.parse(stdout);
    expect(verb).toBe("raw");
    const kinds = result.events
      .map(({ kind }: { kind: string }) => kind)
      .filter((kind: string) => kind !== "stderr");
    expect(kinds).toEqual(target().first.length > 0 ? ["sent", "head", "received"] : ["sent", "received"]);
    expect(JSON.parse(result.events.at(-1).data).result.supportedVersions).toContain("2026-07-28");
    expect(result.events.every(({ at }: { at: unknown }) => typeof at === "number")).toBe(true);
  });
});

describe("raw over HTTP", () => {
  it("shows the headers of both sides, and masks secrets", async () => {
    const words = ["--header", "Authorization: Bearer very-secret", "--header", "X-Note: plain"];
    const { stdout } = await mica(["raw", http.url, ...words], {
      stdin: 'tools/list\ntools/call {"name":"echo","arguments":{"text":"a","region":"Süd"}}',
    });
    expect(stdout).toMatch(/^> POST \/mcp HTTP\/1\.1\n> Host: 127\.0\.0\.1:\d+\n/);
    expect(stdout).toContain("> MCP-Protocol-Version: 2026-07-28\n> Mcp-Method: tools/list\n");
    expect(stdout).toContain("> Mcp-Name: echo\n");
    // The schema of the tool was in the answer before.
    expect(stdout).toContain("> mcp-param-region: =?base64?U8O8ZA==?=\n");
    expect(stdout).toContain("> Authorization: ***\n> X-Note: plain\n");
    expect(stdout).toMatch(/^< HTTP\/1\.1 200 OK\n< content-type: application\/json\n/im);
    expect(stdout).not.toContain("very-secret");
  });

  it("lets a header of the protocol be replaced, to see what the server says to it", async () => {
    const { code, stdout } = await mica(["raw", http.url, "--header", "mcp-method: prompts/list"], {
      stdin: "tools/list",
    });
    expect(code).toBe(0);
    expect(stdout).toContain("> mcp-method: prompts/list\n");
    expect(stdout).toMatch(/^< HTTP\/1\.1 400 /m);
    expect(wire(stdout, "<")[0].error.code).toBe(-32020);
  });

  it("shows a stream event by event, comments included", async () => {
    const events =
      ': hello\n\nevent: message\ndata: {"jsonrpc":"2.0",\ndata: "method":"notifications/message"}\n\n';
    const end = 'data: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n';
    const listener: HttpListener = createServer((_incoming, outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write(events.slice(0, 30));
      setTimeout(() => outgoing.end(events.slice(30) + end), 50);
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    try {
      const { code, stdout } = await mica(["raw", url, "--json"], { stdin: "ping" });
      expect(code).toBe(0);
      const received = JSON.parse(stdout).result.events.filter(
        ({ kind }: { kind: string }) => kind === "received",
      );
      expect(received.map(({ text }: { text: string }) => text).join("")).toBe(events + end);
      expect(received.map(({ data }: { data?: string }) => data && JSON.parse(data))).toEqual([
        undefined,
        { jsonrpc: "2.0", method: "notifications/message" },
        { jsonrpc: "2.0", id: 1, result: {} },
      ]);
    } finally {
      listener.close();
    }
  });

  it("says that nobody is there", async () => {
    const { code, stdout } = await mica(["raw", "http://127.0.0.1:9/mcp"], { stdin: "tools/list" });
    expect(code).toBe(3);
    expect(stdout).toContain("ECONNREFUSED");
  });
});

describe("raw over stdio", () => {
  it("says how a server ended, and that an answer did not come", async () => {
    const crashed = await mica(["raw", ...fixture("--crash")], { stdin: "tools/list" });
    expect(crashed.code).toBe(3);
    expect(crashed.stdout).toContain("exit code 7");
    const silent = await mica(["raw", "--timeout", "0.3", ...fixture("--mute")], { stdin: "tools/list" });
    expect(silent.code).toBe(5);
    expect(silent.stderr).toContain("not everything was answered in time");
    const unstartable = await mica(["raw", "--", "/nowhere/at/all"], { stdin: "tools/list" });
    expect(unstartable.code).toBe(3);
    expect(unstartable.stdout).toContain("ENOENT");
  });

  it("reads messages from a file, and says where it cannot", async () => {
    const missing = await mica(["raw", "--file", "/nowhere", ...fixture()]);
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--file: cannot read "/nowhere"'),
    });
  });

  it("knows an answer that begins with a byte order mark", async () => {
    const answers = `process.stdin.once("data", () => process.stdout.write('\\ufeff{"jsonrpc":"2.0","id":1,"result":{}}\\n'))`;
    const { code, stdout } = await mica(["raw", "--timeout", "5", "--", process.execPath, "-e", answers], {
      stdin: "ping",
    });
    expect(code).toBe(0);
    expect(wire(stdout, "<")).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  });

  it("shows what would steer a terminal only as text", async () => {
    const { stdout } = await mica(["raw", ...fixture("--stray")], { stdin: "tools/list" });
    expect(stdout).toContain("Server started \\x1b[2J");
  });
});

describe.runIf(SCRIPT)("the editor of raw", () => {
  const edit = (steps: Parameters<typeof converse>[1], state: string) =>
    converse([process.execPath, built.path, "raw", ...stdio()], steps, { XDG_STATE_HOME: state });

  it("completes methods, keeps a history for the next time, and shows mistakes", async () => {
    const state = join(built.directory, "state");
    const { code, screen } = await edit(
      [
        ["mcp> ", "tools/li"],
        // A tab in what is pasted is no wish for a completion.
        ["tools/li", "\t"],
        ["st ", "\r"],
        ['"id":1,"result"', "nonsense [\r"],
        ["expected JSON", ' tools/call {"name":"touch"}\r'],
        ["note 1", ".help\r"],
        ["Type a message", KEY.ctrlD],
      ],
      state,
    );
    expect(code).toBe(0);
    expect(screen).toContain('"method":"tools/list"');
    const history = join(state, "mica", "raw-history");
    // A line that begins with a space is not kept.
    expect(readFileSync(history, "utf8")).toBe("tools/list \nnonsense [\n");
    expect(statSync(history).mode & 0o777).toBe(0o600);
    const up = "\x1b[A";
    const recalled = await edit(
      [
        ["mcp> ", `${up}${up}\r`],
        ['"id":1,"result"', KEY.ctrlC],
      ],
      state,
    );
    expect(recalled.screen).toContain('> {"jsonrpc":"2.0","id":1,"method":"tools/list"');
  });

  it("works without a place for its history", async () => {
    const { code } = await edit(
      [
        ["mcp> ", "ping\r"],
        ["< ", ".exit\r"],
      ],
      "/proc/nowhere",
    );
    expect(code).toBe(0);
    expect(existsSync("/proc/nowhere")).toBe(false);
  });
});
