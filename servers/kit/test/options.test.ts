/** What each command line means, and which are refused. */
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "../data-folder.js";
import { helpOf, readOptions, UsageError } from "../options.js";
import { NOTES } from "./fixtures/notes.js";

const http = (...argv: string[]) => {
  const options = readOptions(NOTES, argv, {});
  return options.show === undefined ? options.http : undefined;
};
const database = (argv: string[], env: NodeJS.ProcessEnv = {}) => {
  const options = readOptions(NOTES, argv, env);
  return options.show === undefined ? options.database : undefined;
};

describe("readOptions", () => {
  it("has defaults for everything", () => {
    expect(readOptions(NOTES, [], {})).toEqual({
      database: join(dataFolder("notes-mcp", { env: {} }), "notes.sqlite"),
      http: undefined,
    });
  });

  it.each([
    [["--http"], "127.0.0.1", 8930],
    [["--http", "--database", "x"], "127.0.0.1", 8930],
    [["--http", "0"], "127.0.0.1", 0],
    [["--http", "127.0.0.1:0"], "127.0.0.1", 0],
    [["--http=localhost:9000"], "localhost", 9000],
    [["--http", "LocalHost"], "localhost", 8930],
    [["--http", "9000"], "127.0.0.1", 9000],
    [["--http", ":9000"], "127.0.0.1", 9000],
    [["--http", "[::1]:9000"], "[::1]", 9000],
    [["--http", "[::1]"], "[::1]", 8930],
    [["--http", "127.0.0.1:1", "--http", "127.0.0.1:2"], "127.0.0.1", 2],
    [["--http", "--http", "127.0.0.1:2"], "127.0.0.1", 2],
  ])("%j means %s port %i", (argv, host, port) => {
    expect(http(...argv)).toEqual({ host, port, allowHosts: [] });
  });

  it("opens other addresses only to hosts that are named", () => {
    expect(
      http("--http", "0.0.0.0:80", "--allow-host", "a.example.com", "--allow-host", "b.example.com:80"),
    ).toEqual({
      host: "0.0.0.0",
      port: 80,
      allowHosts: ["a.example.com", "b.example.com:80"],
    });
  });

  it.each([
    [["--http", "0.0.0.0:8930"], /with --allow-host notes\.example\.com$/],
    [["--http", "192.0.2.1"], /--allow-host/],
    [["--http", "[::]:1"], /--allow-host/],
    [["--http", "localhost.example.com"], /--allow-host/],
    [["--http", "::1"], /expects HOST:PORT, such as 127\.0\.0\.1:8930 or \[::1\]:8930, got "::1"$/],
    [["--http", "127.0.0.1:65536"], /expects HOST:PORT/],
    [["--http", "127.0.0.1:"], /expects HOST:PORT/],
    [["--http", "http://127.0.0.1:1"], /expects HOST:PORT/],
    [["--http", ""], /expects HOST:PORT/],
    [["--allow-host", "a.example.com"], /without --http/],
    [["--http", "--allow-host", "http://a"], /--allow-host expects .* such as notes\.example\.com/],
    [["--http", "--allow-host", "a b"], /--allow-host expects/],
    [["--database"], /--database/],
    [["--database", ""], /--database expects/],
    [["--database", ":memory:"], /--database expects/],
    [["--database", "file:x?mode=memory"], /--database expects/],
    [["--bogus"], /^Unknown option '--bogus'$/],
    [["serve"], /^Unexpected argument 'serve'$/],
    [["--help=yes"], /--help/],
  ])("refuses %j in one line", (argv, message) => {
    expect(() => readOptions(NOTES, argv, {})).toThrow(UsageError);
    expect(() => readOptions(NOTES, argv, {})).toThrow(message);
    expect(() => readOptions(NOTES, argv, {})).toThrow(/^[^\n]*$/);
  });

  it("takes the file from the command line, then from the environment, then from the data folder", () => {
    const env = { NOTES_DATABASE: "env.sqlite", XDG_DATA_HOME: "/data", LOCALAPPDATA: "C:\\data" };
    expect(database(["--database", "given.sqlite"], env)).toBe(resolve("given.sqlite"));
    expect(database([], env)).toBe(resolve("env.sqlite"));
    expect(database([], { ...env, NOTES_DATABASE: "" })).toMatch(/notes-mcp[\\/]notes\.sqlite$/);
    expect(() => database([], { NOTES_DATABASE: ":memory:" })).toThrow(/^NOTES_DATABASE expects/);
  });
});

describe("--auth", () => {
  const spec = { ...NOTES, authenticates: true };
  const auth = (...argv: string[]) => {
    const options = readOptions(spec, argv, {});
    return options.show === undefined ? options.http?.auth : undefined;
  };

  it("names an authorization server, and for what tokens must be", () => {
    expect(auth("--http")).toBeUndefined();
    const issuer = "https://auth.example.com/tenant";
    expect(auth("--http", "--auth", issuer)).toEqual({ issuer, resource: undefined });
    expect(auth("--http", "--auth", "dev")).toEqual({ issuer: "dev", resource: undefined });
    expect(auth("--http", "[::1]:0", "--auth", "dev")).toEqual({ issuer: "dev", resource: undefined });
    expect(auth("--http", "--auth", "http://127.0.0.1:9000")).toMatchObject({
      issuer: "http://127.0.0.1:9000",
    });
    const resource = "https://notes.example.com/mcp?a=b";
    const open = ["--http", "0.0.0.0:80", "--allow-host", "notes.example.com", "--resource", resource];
    expect(auth(...open, "--auth", issuer)).toEqual({ issuer, resource });
  });

  it.each([
    [["--auth", "dev"], /^--auth has no meaning without --http/],
    [["--auth", "https://auth.example.com"], /^--auth has no meaning without --http/],
    [["--http", "--auth"], /--auth/],
    [["--http", "--auth", ""], /^--auth expects .* got ""$/],
    [
      ["--http", "--auth", "auth.example.com"],
      /^--auth expects the URL of an authorization server, or "dev"/,
    ],
    [["--http", "--auth", "http://auth.example.com"], /https, or http on this machine/],
    [["--http", "--auth", "https://auth.example.com?a"], /^--auth expects/],
    [["--http", "--auth", "https://a:b@auth.example.com"], /^--auth expects/],
    [["--http", "--resource", "https://notes.example.com/mcp"], /^--resource has no meaning without --auth$/],
    [["--http", "--auth", "dev", "--resource", "https://a/mcp#x"], /^--resource expects/],
    [["--http", "--auth", "dev", "--resource", "notes"], /^--resource expects/],
    [
      ["--http", "0.0.0.0:80", "--allow-host", "a.example.com", "--auth", "https://auth.example.com"],
      /name it, with --resource https:\/\/notes\.example\.com\/mcp$/,
    ],
    [
      [
        "--http",
        "0.0.0.0:80",
        "--allow-host",
        "a.example.com",
        "--auth",
        "dev",
        "--resource",
        "https://a/mcp",
      ],
      /^--auth dev lets everybody in, so it serves this machine alone: expected --http 127\.0\.0\.1:80/,
    ],
    [["--http", "192.0.2.1", "--allow-host", "a.example.com", "--auth", "dev"], /serves this machine alone/],
  ])("refuses %j in one line", (argv, message) => {
    expect(() => readOptions(spec, argv, {})).toThrow(UsageError);
    expect(() => readOptions(spec, argv, {})).toThrow(message);
    expect(() => readOptions(spec, argv, {})).toThrow(/^[^\n]*$/);
  });

  it("is not there where the server does not ask callers who they are", () => {
    expect(() => readOptions(NOTES, ["--http", "--auth", "dev"], {})).toThrow("Unknown option '--auth'");
    expect(helpOf(NOTES)).not.toContain("--auth");
    expect(helpOf(spec)).toMatch(/^ {2}--auth ISSUER {8}\S.*\n {23}\S.*\n {2}--resource URL {7}\S/m);
  });
});

describe("helpOf", () => {
  it("names the command, the file, the port and the variable, in two columns", () => {
    const help = helpOf(NOTES);
    expect(help).toMatch(/^notes-mcp: a notebook as an MCP server\n\nUsage: notes-mcp \[options\]\n/);
    expect(help).toContain("where the notebook is kept");
    expect(help).toContain("default 127.0.0.1:8930;");
    const entries = help.split("\n").filter((line) => line.startsWith("  "));
    expect(entries).toHaveLength(6);
    for (const entry of entries) expect(entry).toMatch(/^ {2}\S.{18} {1,}\S/);
    expect(entries.at(-1)).toMatch(/^ {2}NOTES_DATABASE {7}the file/);
  });
});
