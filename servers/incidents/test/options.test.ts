import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "../src/data-folder.js";
import { readOptions, UsageError } from "../src/options.js";

const http = (...argv: string[]) => {
  const options = readOptions(argv, {});
  return options.show === undefined ? options.http : undefined;
};
const database = (argv: string[], env: NodeJS.ProcessEnv = {}) => {
  const options = readOptions(argv, env);
  return options.show === undefined ? options.database : undefined;
};

describe("readOptions", () => {
  it.each([
    [["--http"], "127.0.0.1", 8931],
    [["--http", "--database", "x"], "127.0.0.1", 8931],
    [["--http", "127.0.0.1:0"], "127.0.0.1", 0],
    [["--http=localhost:9000"], "localhost", 9000],
    [["--http", "LocalHost"], "localhost", 8931],
    [["--http", "9000"], "127.0.0.1", 9000],
    [["--http", ":9000"], "127.0.0.1", 9000],
    [["--http", "[::1]:9000"], "[::1]", 9000],
    [["--http", "[::1]"], "[::1]", 8931],
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
    [["--http", "0.0.0.0:8931"], /--allow-host/],
    [["--http", "192.0.2.1"], /--allow-host/],
    [["--http", "[::]:1"], /--allow-host/],
    [["--http", "localhost.example.com"], /--allow-host/],
    [["--http", "::1"], /expects HOST:PORT/],
    [["--http", "127.0.0.1:65536"], /expects HOST:PORT/],
    [["--http", "127.0.0.1:"], /expects HOST:PORT/],
    [["--http", "http://127.0.0.1:1"], /expects HOST:PORT/],
    [["--http", ""], /expects HOST:PORT/],
    [["--allow-host", "a.example.com"], /without --http/],
    [["--http", "--allow-host", "http://a"], /--allow-host expects/],
    [["--database"], /--database/],
    [["--database", ""], /--database expects/],
    [["--database", ":memory:"], /--database expects/],
    [["--database", "file:x?mode=memory"], /--database expects/],
    [["--bogus"], /^Unknown option '--bogus'$/],
    [["serve"], /^Unexpected argument 'serve'$/],
    [["--help=yes"], /--help/],
  ])("refuses %j", (argv, message) => {
    expect(() => readOptions(argv, {})).toThrow(UsageError);
    expect(() => readOptions(argv, {})).toThrow(message);
  });

  it("takes the file from the command line, then from the environment, then from the data folder", () => {
    const env = { INCIDENTS_DATABASE: "env.sqlite", XDG_DATA_HOME: "/data", LOCALAPPDATA: "C:\\data" };
    expect(database(["--database", "given.sqlite"], env)).toBe(resolve("given.sqlite"));
    expect(database([], env)).toBe(resolve("env.sqlite"));
    expect(database([], { ...env, INCIDENTS_DATABASE: "" })).toMatch(/incidents-mcp[\\/]incidents\.sqlite$/);
    expect(() => readOptions([], { INCIDENTS_DATABASE: ":memory:" })).toThrow(/^INCIDENTS_DATABASE expects/);
  });
});

describe("dataFolder", () => {
  it.each([
    ["linux", {}, "/home/ada/.local/share/log"],
    ["linux", { XDG_DATA_HOME: "/data" }, "/data/log"],
    ["linux", { XDG_DATA_HOME: "relative" }, "/home/ada/.local/share/log"],
    ["freebsd", {}, "/home/ada/.local/share/log"],
    ["darwin", { XDG_DATA_HOME: "/data" }, "/home/ada/Library/Application Support/log"],
    ["win32", { LOCALAPPDATA: "C:\\Users\\ada\\Local" }, "C:\\Users\\ada\\Local\\log"],
    ["win32", {}, "\\home\\ada\\AppData\\Local\\log"],
  ] as const)("on %s with %j is %s", (platform, env, expected) => {
    expect(dataFolder("log", { platform, env, home: "/home/ada" })).toBe(expected);
  });
});
