import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import SqliteDatabase from "better-sqlite3";
import { connect } from "mica-mcp/client";
import { describe, expect, it } from "vitest";
import { builtFiles, type Running, run } from "../../kit/test/process.js";
import manifest from "../package.json" with { type: "json" };
import { temporaryFiles } from "./folder.js";
import { callTool } from "./http.js";

const file = temporaryFiles();
const built = builtFiles(import.meta.url, "../src/incidents-mcp.ts", "../src/index.ts");
const command = (args: readonly string[], options?: Parameters<typeof run>[2]): Running =>
  run(built("incidents-mcp.ts"), args, options);

const INFO = { name: "test", version: "1.0.0" };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const line = (id: number, method: string, params: Record<string, unknown> = {}): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: META } })}\n`;
const opening = line(1, "tools/call", {
  name: "open_incident",
  arguments: { title: "Queue backed up", severity: "sev2" },
});

async function served(path: string, ...args: string[]): Promise<Running & { url: string }> {
  const running = command(["--http", "127.0.0.1:0", "--database", path, ...args]);
  const [, url] = await running.printed(/^Incident log at (http:\S+)$/m);
  return { ...running, url: url! };
}

describe("the command line", () => {
  it("shows help and version, and exits", async () => {
    const help = await command(["--help"]).finished;
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toMatch(/^incidents-mcp: an incident log as an MCP server\n/);
    expect(help.stdout).toContain("127.0.0.1:8931");
    const version = command(["--version"]);
    expect(await version.finished).toMatchObject({ code: 0, stderr: "", stdout: `${manifest.version}\n` });
  });

  it("refuses in one line, and shows a host name to begin with", async () => {
    const { code, stdout, stderr } = await command(["--http", "0.0.0.0:0"]).finished;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^incidents-mcp: [^\n]* --allow-host incidents\.example\.com\. See incidents-mcp --help\n$/,
    );
  });
});

describe("the database", () => {
  it("that belongs to another program is refused in one line", async () => {
    const path = file();
    mkdirSync(dirname(path), { recursive: true });
    new SqliteDatabase(path).exec("CREATE TABLE accounts (id INTEGER)").close();
    expect(await command(["--database", path]).finished).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `incidents-mcp: Database ${path} is not an incident log: it belongs to another application\n`,
    });
  });

  it("is the one that the environment names, where no option does, else the one in the data folder", async () => {
    const data = dirname(file());
    const path = file();
    for (const named of [path, ""]) {
      const env = { INCIDENTS_DATABASE: named, XDG_DATA_HOME: data, LOCALAPPDATA: data };
      const running = command([], { env });
      running.child.stdin.end(opening);
      expect(await running.finished).toMatchObject({ code: 0, stderr: "" });
    }
    expect(existsSync(path)).toBe(true);
    if (process.platform !== "darwin")
      expect(existsSync(join(data, "incidents-mcp", "incidents.sqlite"))).toBe(true);
  });
});

describe("on stdio", () => {
  it("answers what was asked before the input ended, prints nothing else, exits, and leaves one whole file", async () => {
    const path = file();
    const running = command(["--database", path]);
    running.child.stdin.end(opening + line(2, "resources/read", { uri: "incidents://open" }));
    const { code, stdout, stderr } = await running.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const answers = stdout
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as { id: number; result: Record<string, unknown> });
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
    expect(stdout).toContain("INC-1");
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it("exits at the end of input while somebody listens for changes", async () => {
    const running = command(["--database", file()]);
    running.child.stdin.write(
      line(1, "subscriptions/listen", { notifications: { resourceSubscriptions: ["incidents://open"] } }),
    );
    await running.printed(/acknowledged/);
    running.child.stdin.end();
    expect(await running.finished).toMatchObject({ code: 0, stderr: "" });
  });

  it("serves a client that launches it", async () => {
    const client = await connect(
      { command: process.execPath, args: [built("incidents-mcp.ts"), "--database", file()] },
      INFO,
    );
    expect(client.serverInfo).toMatchObject({ name: "incidents-mcp", version: manifest.version });
    const { content } = await client.callTool("open_incident", { title: "Launched", severity: "sev4" });
    expect(content).toMatchObject([{ text: expect.stringContaining('"INC-1"') }]);
    await client.close();
  });
});

describe("over HTTP", () => {
  it("says where it is, serves many, and ends gracefully while somebody listens", async () => {
    const path = file();
    const { url, child, finished } = await served(path);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    await using one = await connect(url, INFO);
    await using two = await connect(url, INFO);
    const subscription = two.listen({ resourceSubscriptions: ["incidents://open"] }, { reopen: false });
    await subscription.acknowledged;
    await one.callTool("open_incident", { title: "Seen by both", severity: "sev1" });
    expect(await subscription.next()).toMatchObject({
      value: { type: "resourceUpdated", uri: "incidents://open" },
    });
    child.kill("SIGTERM");
    expect(await subscription.next()).toMatchObject({ done: true });
    expect(await finished).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it("keeps what was answered when it is killed", async () => {
    const path = file();
    const killed = await served(path);
    const client = await connect(killed.url, INFO);
    for (let at = 0; at < 20; at += 1)
      await client.callTool("open_incident", { title: `Kept ${at}`, severity: "sev1" });
    killed.child.kill("SIGKILL");
    expect(await killed.finished).toMatchObject({ signal: "SIGKILL" });
    await client.close();

    const { url, child, finished } = await served(path);
    const again = await connect(url, INFO);
    const { content } = await again.callTool("search_incidents", { text: "kept", limit: 100 });
    const text = content[0]?.type === "text" ? content[0].text : "";
    expect((JSON.parse(text) as { incidents: unknown[] }).incidents).toHaveLength(20);
    await again.close();
    child.kill("SIGINT");
    expect(await finished).toMatchObject({ code: 0 });
  });
});

describe("--auth", () => {
  it("is refused over stdio, and dev on addresses that others reach", async () => {
    const refusal = async (...args: string[]) => {
      const { code, stdout, stderr } = await command(args).finished;
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      return stderr;
    };
    expect(await refusal("--auth", "dev")).toMatch(/^incidents-mcp: --auth has no meaning without --http/);
    const open = ["--http", "0.0.0.0:0", "--allow-host", "a.example.com"];
    expect(await refusal(...open, "--auth", "dev")).toMatch(/^incidents-mcp: --auth dev [^\n]* alone/);
  });

  it("dev says loudly what it is, gives tokens to scripts, and ends gracefully", async () => {
    const script = new URL("../../../scripts/start.mjs", import.meta.url).href;
    const { nextSteps } = (await import(script)) as {
      nextSteps(url: string, database: string, authorization: object): string;
    };
    const { url, child, finished, printed } = await served(file(), "--auth", "dev");
    const [, issuer] = await printed(/^Asks for access tokens of (http:\/\/127\.0\.0\.1:\d+)$/m);
    const [, tokenCommand] = await printed(/^Get one with: (curl .*)$/m);
    const steps = nextSteps(url, "log.sqlite", { issuer, tokenCommand });
    const line = /^ {2}(TOKEN=\$\(.*\))$/m.exec(steps)?.[1];
    expect(line).toBeDefined();
    const { stdout: token } = await promisify(execFile)("sh", ["-c", `${line}; printf %s "$TOKEN"`]);
    const args = { title: "Opened by a script", severity: "sev3" };
    expect(await callTool(url, "open_incident", args)).toMatchObject({ status: 401 });
    const opened = await callTool(url, "open_incident", args, token);
    expect(opened.json.result?.content?.[0]?.text).toContain('"INC-1"');
    child.kill("SIGTERM");
    const { code, stderr } = await finished;
    expect(code).toBe(0);
    expect(stderr).toContain(`*** TEST ISSUER at ${issuer}: it lets everybody on this machine in`);
    await expect(fetch(`${issuer}/jwks`)).rejects.toThrow();
  });

  it("dev gives the port back where the log cannot be served", async () => {
    const { url, child, finished } = await served(file());
    const { port } = new URL(url);
    const taken = await command(["--http", port, "--auth", "dev", "--database", file()]).finished;
    expect(taken).toMatchObject({ code: 1, stdout: "" });
    expect(taken.stderr).toContain("the port is in use");
    child.kill("SIGTERM");
    await finished;
  });
});

describe("npm start", () => {
  it("prints a request by hand that works as it stands", async () => {
    const script = new URL("../../../scripts/start.mjs", import.meta.url).href;
    const { nextSteps } = (await import(script)) as { nextSteps(url: string, database: string): string };
    const { url, child, finished } = await served(file());
    const steps = nextSteps(url, "log.sqlite");
    const curl = /^ {2}curl [\s\S]*?'$(?=\n\n)/m.exec(steps)?.[0];
    expect(curl).toBeDefined();
    const client = await connect(url, INFO);
    await client.callTool("open_incident", { title: "Seen by hand", severity: "sev2" });
    await client.close();
    const { stdout } = await promisify(execFile)("sh", ["-c", curl!]);
    const answer = JSON.parse(stdout) as { result: { content: { text: string }[] } };
    expect(answer.result.content[0]?.text).toContain("Seen by hand");
    child.kill("SIGTERM");
    expect(await finished).toMatchObject({ code: 0 });
  });
});

describe("the package", () => {
  it("has a command that starts with Node, and exports what embedding needs", async () => {
    expect(readFileSync(built("incidents-mcp.ts"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(Object.keys((await import(built("index.ts"))) as object).sort()).toEqual([
      "StoreError",
      "createIncidentServer",
      "main",
      "openSqliteStore",
    ]);
  });
});
