/** `mica load` against servers whose behaviour is known. Nothing is asserted of the time that a machine takes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeServer } from "../fixtures/mica-server.js";
import { mica } from "../run-in-process.js";

const SERVER = fileURLToPath(new URL("../fixtures/load-server.mjs", import.meta.url));

let child: ChildProcess;
let url: string;
beforeEach(async () => {
  child = spawn(process.execPath, [SERVER, "--http"], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(child.stdout as NodeJS.EventEmitter, "data");
  url = `http://127.0.0.1:${String(port).trim()}/mcp`;
});
afterEach(() => {
  child.kill("SIGKILL");
});

const BINDINGS = [
  ["HTTP", "http", () => ({ first: [url], last: [] as string[] })],
  ["stdio", "stdio", () => ({ first: [] as string[], last: ["--", process.execPath, SERVER] })],
] as const;

async function load(words: string[], { first, last }: { first: string[]; last: string[] }) {
  const { code, stdout, stderr } = await mica(["load", ...first, ...words, "--json", ...last]);
  return { code, stderr, ...JSON.parse(stdout) };
}

describe.each(BINDINGS)("over %s", (_, binding, target) => {
  it("so many requests are answered, with so many in flight", async () => {
    const words = ["quick", "text=a", "--requests", "500", "--connections", "4"];
    const { code, result } = await load(words, target());
    expect(code).toBe(0);
    expect(result).toMatchObject({
      binding,
      method: "tools/call",
      tool: "quick",
      loop: "closed",
      connections: 4,
      rate: null,
      sent: 500,
      answered: 500,
      failed: 0,
      unanswered: 0,
      unsent: 0,
      errors: [],
      stopped: null,
      client: { latenessMs: null, limited: expect.any(Boolean) },
    });
    const { min, p50, p90, p99, max, count, mean } = result.latencyMs;
    expect(count).toBe(500);
    expect([min, p50, p90, p99, max]).toEqual([min, p50, p90, p99, max].sort((a, b) => a - b));
    expect(mean).toBeGreaterThanOrEqual(min);
    expect(mean).toBeLessThanOrEqual(max);
    expect(result.client.utilization).toBeGreaterThan(0);
    expect(result.warmUpRequests).toBeGreaterThan(1);
    expect(result.series.reduce((sum: number, { answered }: { answered: number }) => sum + answered, 0)).toBe(
      500,
    );
    // Seconds are given to a millisecond.
    expect((result.perSecond * result.seconds) / 500).toBeGreaterThan(0.8);
    expect((result.perSecond * result.seconds) / 500).toBeLessThan(1.25);
  });

  it("a rate is kept, whatever comes of it", async () => {
    const { code, result } = await load(["quick", "--rate", "100", "--seconds", "1"], target());
    expect(code).toBe(0);
    expect(result).toMatchObject({ loop: "open", rate: 100, sent: 100, answered: 100 });
    // The last is due ten milliseconds before the end.
    expect(result.seconds).toBeGreaterThanOrEqual(0.99);
    expect(result.client.utilization).toBe(null);
    expect(result.client.latenessMs.count).toBeGreaterThan(0);
  });

  it("whom a stall kept waiting is counted at a rate, and only there", async () => {
    const words = ["stall", "--allow-writes", "stall", "--json"];
    // With one connection all but the first of them could not even be sent meanwhile.
    const open = await load([...words, "--rate", "200", "--requests", "300", "--connections", "1"], target());
    expect(open.result.answered).toBe(300);
    // 200 ms are 40 requests of 300, each of which waits for the rest of it.
    expect(open.result.latencyMs.p99).toBeGreaterThan(100);
    expect(open.result.latencyMs.max).toBeGreaterThan(190);
    expect(open.result.warmUpRequests).toBe(1);
  });

  it("and hidden from a closed loop, of which one request waits", async () => {
    const words = ["stall", "--allow-writes", "stall", "--connections", "1", "--requests", "1000"];
    const { result } = await load(words, target());
    expect(result.latencyMs.max).toBeGreaterThan(190);
    expect(result.latencyMs.p99).toBeLessThan(100);
    expect(Math.max(...result.series.map(({ slowestMs }: { slowestMs: number }) => slowestMs))).toBe(
      result.latencyMs.max,
    );
  });

  it("a server that dies ends it early", async () => {
    const words = ["dying", "--allow-writes", "dying", "--connections", "2", "--seconds", "60"];
    const { code, result, stderr } = await load(words, target());
    expect(code).toBe(3);
    expect(result.answered).toBe(48);
    expect(result.stopped).toMatch(/^50 connections in a row failed: /);
    expect(result.errors.map(({ kind }: { kind: string }) => kind)).toContain("connection_lost");
    expect(stderr).toContain("mica: ended early: ");
    expect(result.seconds).toBeLessThan(30);
  });

  it("no answer in time is an error of its own", async () => {
    const words = ["silent", "--timeout", "0.3", "--requests", "2", "--connections", "2"];
    const { code, result } = await load(words, target());
    expect(code).toBe(10);
    expect(result).toMatchObject({
      answered: 0,
      failed: 2,
      latencyMs: null,
      errors: [{ kind: "timeout", count: 2 }],
    });
  });

  it("other methods are sent where they change nothing", async () => {
    const { code, result } = await load(["--method", "tools/list", "--requests", "20"], target());
    expect({ code, answered: result.answered, tool: result.tool }).toEqual({
      code: 0,
      answered: 20,
      tool: null,
    });
  });
});

describe("errors", () => {
  const kindsOf = (errors: { kind: string; count: number }[]) =>
    Object.fromEntries(errors.map(({ kind, count }) => [kind, count]));
  const words = ["faulty", "--allow-writes", "faulty", "--connections", "1"];

  it("are told by kind over HTTP", async () => {
    // The first call, which is not counted, takes the first of nine kinds.
    const { code, result } = await load([...words, "--requests", "9"], { first: [url], last: [] });
    expect(code).toBe(10);
    expect(kindsOf(result.errors)).toEqual({
      tool_error: 1,
      "rpc_-32602": 1,
      input_required: 1,
      invalid_response: 2,
      http_503: 1,
      connection_lost: 1,
    });
    expect(result).toMatchObject({ answered: 2, failed: 7 });
    expect(result.errors.find(({ kind }: { kind: string }) => kind === "rpc_-32602").example).toBe(
      "no such thing",
    );
  });

  it("are told by kind over stdio", async () => {
    const last = ["--", process.execPath, SERVER];
    const { code, result } = await load([...words, "--requests", "5"], { first: [], last });
    expect(code).toBe(10);
    expect(kindsOf(result.errors)).toMatchObject({
      tool_error: 1,
      "rpc_-32602": 1,
      input_required: 1,
      invalid_response: 1,
    });
    expect(result.answered).toBe(1);
  });
});

describe("what might do harm is refused", () => {
  const refused = async (...given: string[]) => {
    const { code, stderr, stdout } = await mica(["load", ...given]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    return stderr;
  };

  it("a tool that is not annotated as read-only", async () => {
    expect(await refused(url, "stall")).toContain("--allow-writes stall calls it all the same");
    expect(await refused(url, "stall", "--allow-writes", "quick")).toContain(
      "stall is not annotated as read-only",
    );
  });

  it("another machine, before anything is sent to it", async () => {
    expect(await refused("http://example.com/mcp", "quick")).toContain("--allow-remote says that you may");
    expect(await refused("http://127.0.0.1.example.com/mcp", "quick")).toContain("--allow-remote");
  });

  it("a method that may change something, or none at all", async () => {
    expect(await refused(url, "--method", "tasks/cancel")).toContain("--allow-writes tasks/cancel");
    expect(await refused(url, "--method", "tools/call")).toContain("a tool is called by its name");
    expect(await refused(url)).toContain("expected a tool to call, or else --method");
    expect(await refused(url, "quick", "--method", "tools/list")).toContain("expected a tool to call");
  });

  it("more than the bounds allow", async () => {
    expect(await refused(url, "quick", "--seconds", "601")).toContain("--seconds: expected a number above 0");
    expect(await refused(url, "quick", "--connections", "0")).toContain(
      "--connections: expected a whole number",
    );
    expect(await refused(url, "quick", "--requests", "5000001")).toContain(
      "--requests: expected a whole number from 1 to 5000000",
    );
    expect(await refused(url, "quick", "--rate", "-1")).toContain("--rate");
  });
});

describe("at a rate that a server does not keep up with", () => {
  it("what is due and cannot be sent is counted", async () => {
    const words = ["silent", "--timeout", "0.5", "--rate", "100", "--seconds", "1", "--connections", "10"];
    const { code, result, warnings } = await load(words, { first: [url], last: [] });
    expect(code).toBe(10);
    expect(result.unsent).toBeGreaterThan(50);
    expect(result.sent + result.unsent).toBeLessThanOrEqual(100);
    expect(warnings.map(({ code: each }: { code: string }) => each)).toContain("unsent");
  });
});

describe("a server written with the SDK", () => {
  let http: HttpServer;
  beforeEach(async () => {
    http = await serveHttp(makeServer(), { port: 0 });
  });
  afterEach(() => http.close());

  it.each(["modern", "legacy"])("is asked in the %s era, with its headers and its session", async (era) => {
    const words = [
      "water",
      "bed=röses",
      "region=Süd",
      "--allow-writes",
      "water",
      "--requests",
      "50",
      "--era",
      era,
    ];
    const { code, result, protocolVersion } = await load(words, { first: [http.url], last: [] });
    expect({ code, answered: result.answered, errors: result.errors }).toEqual({
      code: 0,
      answered: 50,
      errors: [],
    });
    expect(protocolVersion === "2026-07-28").toBe(era === "modern");
  });
});

it("is printed for people, and ends with an interruption", async () => {
  const { code, stdout, stderr } = await mica(["load", url, "quick", "--requests", "100"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /^[\d.]+ answers a second quick over http, 8 in flight, [\d.]+ s\n {2}answered 100 of 100; \d+ before/,
  );
  expect(stdout).toMatch(
    /\nlatency in ms, from when each request was sent\n +min +mean +p50 .* +p99.9 +max\n( +[\d.]+){9}\n/,
  );
  expect(stdout).toMatch(/\nmica itself was busy \d+ % of the time\.\n$/);
  const interruption = new AbortController();
  setTimeout(() => interruption.abort(130), 300);
  const ended = await mica(["load", url, "quick", "--seconds", "60"], interruption.signal);
  expect(ended).toMatchObject({ code: 130, stdout: "" });
});
