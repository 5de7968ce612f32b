import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { connect } from "mica-mcp/client";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { builtFiles, type Running, run } from "./command.js";
import { temporaryFiles } from "./folder.js";

const file = temporaryFiles();
const built = builtFiles("../src/incidents-mcp.ts", "../src/index.ts");
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
    const help = command(["--help"]);
    expect(await help.finished).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("--database FILE"),
    });
    const version = command(["--version"]);
    expect(await version.finished).toMatchObject({ code: 0, stderr: "", stdout: `${manifest.version}\n` });
  });

  it.each([
    [["--bogus"], "Unknown option '--bogus'"],
    [["serve"], "Unexpected argument 'serve'"],
    [["--http", "::1"], "--http expects HOST:PORT"],
    [["--http", "0.0.0.0:0"], "--allow-host"],
    [["--database", ""], "--database expects the path of a file"],
  ])("refuses %j in one line", async (args, message) => {
    const { code, stdout, stderr } = await command(args).finished;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^incidents-mcp: [^\n]*\. See incidents-mcp --help\n$/);
    expect(stderr).toContain(message);
  });
});

describe("the database", () => {
  it("that is none is refused in one line", async () => {
    const path = file();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "no database ".repeat(100));
    for (const args of [[], ["--http", "127.0.0.1:0"]]) {
      expect(await command(["--database", path, ...args]).finished).toEqual({
        code: 1,
        signal: null,
        stdout: "",
        stderr: `incidents-mcp: Database ${path} is not a SQLite database\n`,
      });
    }
  });

  it.skipIf(process.platform === "win32")(
    "in a folder without permission is refused in one line",
    async () => {
      const path = file();
      mkdirSync(dirname(path), { recursive: true });
      chmodSync(dirname(path), 0o555);
      chmodSync(dirname(dirname(path)), 0o755);
      // Root may write anywhere: then the command runs as somebody else.
      const as = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
      const inside = await command(["--database", path], as).finished;
      expect(inside).toMatchObject({ code: 1, stdout: "" });
      expect(inside.stderr).toBe(
        `incidents-mcp: Database ${path} cannot be opened: check the permissions of the file and its folder\n`,
      );
      const below = join(dirname(path), "more", "log.sqlite");
      const missing = await command(["--database", below], as).finished;
      expect(missing.stderr).toBe(
        `incidents-mcp: Database ${below}: its folder cannot be created: permission denied\n`,
      );
      chmodSync(dirname(path), 0o755);
    },
  );

  it.skipIf(!existsSync("/proc/self"))(
    "in a folder that takes no entries is refused, and nothing hangs",
    async () => {
      expect(await command(["--database", "/proc/incidents/log.sqlite"]).finished).toMatchObject({
        code: 1,
        stdout: "",
      });
    },
  );

  it("is the one that the environment names, where no option does", async () => {
    const path = file();
    const running = command([], { env: { INCIDENTS_DATABASE: path } });
    running.child.stdin.end(opening);
    expect(await running.finished).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(path)).toBe(true);
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

  it("says that the port is in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    expect(await command(["--http", `127.0.0.1:${port}`, "--database", file()]).finished).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `incidents-mcp: Cannot listen on 127.0.0.1:${port}: the port is in use. Stop what listens there, or choose another port with --http\n`,
    });
    await new Promise((resolve) => taken.close(resolve));
  });

  it("says that an address or a name is not there", async () => {
    const open = ["--allow-host", "a.example.com", "--database", file()];
    const elsewhere = await command(["--http", "192.0.2.1:0", ...open]).finished;
    expect(elsewhere).toMatchObject({ code: 1, stdout: "" });
    expect(elsewhere.stderr).toMatch(
      /^incidents-mcp: Cannot listen on 192\.0\.2\.1:0: this machine does not have/,
    );
  });

  it("accepts the hosts that are named, warns, and refuses others", async () => {
    const running = command(["--http", "0.0.0.0:0", "--allow-host", "log.example.com", "--database", file()]);
    const [, port] = await running.printed(/^Incident log at http:\/\/localhost:(\d+)\/mcp$/m);
    const status = async (host: string): Promise<number | undefined> => {
      const { get } = await import("node:http");
      return new Promise((resolve, reject) => {
        get({ host: "127.0.0.1", port, path: "/mcp", headers: { host } }, (res) =>
          resolve(res.resume().statusCode),
        ).on("error", reject);
      });
    };
    // The endpoint takes POST alone: 405 is the answer of a server that lets the host in.
    expect(await status("log.example.com")).toBe(405);
    expect(await status(`localhost:${port}`)).toBe(405);
    expect(await status("other.example.com")).toBe(403);
    running.child.kill("SIGTERM");
    const { code, stderr } = await running.finished;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Whoever can reach this address can read and write the log/);
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
