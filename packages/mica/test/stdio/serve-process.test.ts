import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Bundle, bundle } from "./bundle.js";
import { lineClient } from "./channel.js";

let serving: Bundle;
beforeAll(async () => {
  serving = await bundle("serving.ts");
});
afterAll(() => serving.remove());

const started = new Set<ChildProcessWithoutNullStreams>();
afterEach(() => {
  // Every test ends by seeing its process end.
  const running = [...started].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  for (const child of running) child.kill("SIGKILL");
  started.clear();
  expect(running).toEqual([]);
});

function start(options: object = {}) {
  const child = spawn(process.execPath, [serving.file, JSON.stringify(options)]);
  started.add(child);
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, stderr }));
  // A program that has its stdout back prints what is no message.
  let stdout = "";
  const given = options as { exit?: boolean; takeStdout?: boolean };
  const plain = given.exit === false || given.takeStdout === false;
  if (plain) {
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
  }
  const messages = lineClient(child.stdin, plain ? new PassThrough() : child.stdout);
  const said = async (text: string) => {
    while (!stderr.includes(text)) await once(child.stderr, "data");
  };
  return { child, ended, said, raw: () => stdout, ...messages };
}

const complete = (id: number, more: object = {}) => ({
  jsonrpc: "2.0",
  id,
  result: { resultType: "complete", ...more },
});

describe("a server process", () => {
  it("answers on stdout, and exits with 0 at the end of its input", async () => {
    const { child, send, next, ended } = start();
    send({ id: 1, method: "hello" });
    expect(await next()).toEqual(complete(1, { method: "hello" }));
    child.stdin.end();
    expect(await ended).toEqual({ code: 0, signal: null, stderr: "ending\nclosed\nprinted when closed\n" });
  });

  it("whose input is at its end from the start exits at once, though a timer is alive", async () => {
    const nothing = openSync("/dev/null", "r");
    const child = spawn(process.execPath, [serving.file, '{"keepAlive":true,"drainMs":1000000}'], {
      stdio: [nothing, "pipe", "pipe"],
    });
    closeSync(nothing);
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("answers what was written before its input ended", async () => {
    const { child, take, ended } = start({ keepAlive: true });
    const lines = [1, 2, 3].map((id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "slow", params: { ms: 50 } }),
    );
    child.stdin.end(lines.join("\n"));
    expect((await take(3)).map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(await ended).toMatchObject({ code: 0 });
  });

  it("hands over all of a long answer before it exits", async () => {
    const { child, next, ended } = start();
    child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"big","params":{"chars":5000000}}\n');
    expect((await next()).result?.["text"]).toHaveLength(5_000_000);
    expect(await ended).toMatchObject({ code: 0 });
  });

  it("ends its subscriptions at once when its input ends, whatever else it waits for", async () => {
    const { child, send, take, next, ended } = start({ drainMs: 300 });
    send({ id: 1, method: "subscriptions/listen" });
    send({ id: 2, method: "never" });
    child.stdin.end();
    expect((await take(2)).map(({ method, id }) => method ?? id)).toEqual(["notifications/cancelled", 1]);
    expect(await next()).toMatchObject({ id: 2, error: { code: -32603 } });
    expect(await ended).toMatchObject({ code: 0 });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("ends gracefully on %s", async (signal) => {
    const { child, send, next, ended } = start({ keepAlive: true });
    send({ id: 1, method: "ready" });
    await next();
    send({ id: 2, method: "slow", params: { ms: 100 } });
    send({ id: 3, method: "ready" });
    expect(await next()).toMatchObject({ id: 3 });
    child.kill(signal);
    expect(await next()).toEqual(complete(2));
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it("ends at once on a second signal", async () => {
    const { child, send, next, said, ended } = start({ drainMs: 1_000_000 });
    send({ id: 1, method: "never" });
    send({ id: 2, method: "ready" });
    await next();
    child.kill("SIGTERM");
    await said("ending");
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 143, signal: null });
  });

  it("stays without `exit`, until nothing else is alive", async () => {
    const { child, said, ended, raw } = start({ exit: false, keepAlive: true });
    child.stdin.end();
    await said("closed");
    // Its stdout is the program's own again.
    await vi.waitFor(() => expect(raw()).toBe("printed when closed\n"), 10_000);
    expect(child.exitCode).toBeNull();
    // And so are its signals.
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: null, signal: "SIGTERM" });

    const other = start({ exit: false });
    other.child.stdin.end();
    expect(await other.ended).toMatchObject({ code: 0 });
  });

  it("keeps stdout for the protocol: everything that is printed goes to stderr", async () => {
    const { child, send, next, arrived, ended } = start({ noisyStart: true });
    send({ id: 1, method: "print" });
    expect(await next()).toEqual(complete(1));
    child.stdin.end();
    const { stderr } = await ended;
    expect(arrived).toEqual([]);
    const printed = [
      "starting up",
      "console.log { a: 1 }",
      "console.info",
      "console.debug",
      "process.stdout.write",
    ];
    for (const text of printed) expect(stderr).toContain(`${text}\n`);
  });

  it("goes on printing though its stderr is closed", async () => {
    const { child, send, next, ended } = start();
    child.stderr.destroy();
    for (const id of [1, 2, 3]) {
      send({ id, method: "print" });
      expect(await next()).toEqual(complete(id));
    }
    child.stdin.end();
    expect(await ended).toMatchObject({ code: 0 });
  });

  it("leaves stdout alone where it is told to", async () => {
    const { child, send, ended, raw } = start({ takeStdout: false });
    send({ id: 1, method: "print" });
    child.stdin.end();
    await ended;
    expect(raw()).toContain("process.stdout.write\n");
  });

  it("shuts down quietly when the client is gone", async () => {
    const { child, send, next, ended, said } = start({ keepAlive: true });
    send({ id: 1, method: "abortable" });
    send({ id: 2, method: "ready" });
    await next();
    child.stdout.destroy();
    // It finds out when it writes.
    send({ id: 3, method: "ready" });
    await said("aborted");
    const stderr = "aborted: The client is gone\nending\nclosed\nprinted when closed\n";
    expect(await ended).toEqual({ code: 0, signal: null, stderr });
  });

  it("reads no further while its answers are not read, and then answers all", async () => {
    const { child, send, take, ended } = start();
    child.stdout.pause();
    const count = 100;
    const padding = "p".repeat(100_000);
    for (let id = 0; id < count; id++) send({ id, method: "big", params: { chars: 100_000, padding } });
    // 10 MB of requests: more than the pipe and the server's buffers take together.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(child.stdin.writableLength).toBeGreaterThan(1_000_000);
    child.stdout.resume();
    expect((await take(count)).map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, id) => id));
    child.stdin.end();
    expect(await ended).toMatchObject({ code: 0 });
  });

  it("answers while it floods a stderr that is read", async () => {
    const { child, send, next, ended } = start();
    send({ id: 1, method: "flood" });
    expect(await next()).toEqual(complete(1));
    child.stdin.end();
    expect((await ended).stderr.length).toBeGreaterThan(200 * 45 * 1024);
  });

  it("loads neither child_process nor anything that is not built in", async () => {
    const { child, send, next, ended } = start();
    send({ id: 1, method: "loaded" });
    const modules = (await next()).result?.["modules"] as string[];
    expect(modules.filter((name) => /child_process|node:http|undici/.test(name))).toEqual([]);
    const source = readFileSync(serving.file, "utf8");
    const imports = [...source.matchAll(/^import .* from "(.*)";$/gm)].map(([, from]) => from);
    expect(imports).toEqual([]);
    child.stdin.end();
    await ended;
  });
});
