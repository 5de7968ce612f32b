import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { ServerExit } from "../../src/stdio/launch.js";
import { type Bundle, bundle } from "./bundle.js";
import { closeAll, ended, failureOf, launch, runs, SERVER, traces } from "./launched.js";

let before: Record<string, number>;
beforeAll(() => {
  before = traces();
});
afterEach(closeAll);
afterAll(() => vi.waitFor(() => expect(traces()).toEqual(before), 10_000));

describe("a server that dies", () => {
  it("rejects everything in flight with its signal and the last lines of its stderr", async () => {
    const { ask } = launch();
    const failures = await Promise.all([failureOf(ask("hang")), failureOf(ask("die"))]);
    expect(failures.map(({ code }) => code)).toEqual(["connection_lost", "connection_lost"]);
    expect(failures[0]?.message).toContain("was ended by SIGKILL before it answered hang (id 1)");
    expect(failures[1]?.message).toContain("before it answered die (id 2)");
    for (const { message, cause } of failures) {
      expect(message).toMatch(/Its last words on stderr:\n {2}first words\n {2}last words$/);
      expect(cause).toEqual({ exitCode: null, signal: "SIGKILL", stderr: ["first words", "last words"] });
    }
  });

  it("rejects with its exit code, and with its words made plain", async () => {
    const { ask } = launch();
    const error = await failureOf(ask("exit", { code: 3 }));
    expect(error.message).toMatch(/exited with code 3 before it answered exit \(id 1\).*\n {2}giving up$/);
    expect((error.cause as ServerExit).exitCode).toBe(3);
  });

  it("keeps the last lines only, each cut", async () => {
    const { call, ask } = launch([], { stderrLines: 3, stderrLineChars: 5 });
    await call("stderr", { text: Array.from({ length: 30 }, (_, i) => `line number ${i}\n`).join("") });
    const { cause } = await failureOf(ask("exit", { code: 1 }));
    expect((cause as ServerExit).stderr).toEqual(["line ", "line ", "\u001b[31m"]);
  });

  it("keeps nothing of a stderr that is ignored", async () => {
    const { ask } = launch([], { stderr: "ignore" });
    const error = await failureOf(ask("exit", { code: 1 }));
    expect(error.message).toMatch(/exited with code 1 before it answered exit \(id 1\)$/);
    expect((error.cause as ServerExit).stderr).toEqual([]);
  });

  it("is lost as well when it only closes its stdout, and is then ended", async () => {
    const { call, ask } = launch();
    const { pid } = await call("pid");
    const error = await failureOf(ask("closeStdout"));
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("closed its stdout before it answered closeStdout (id 2)");
    expect(error.cause).toMatchObject({ exitCode: null, signal: null });
    await closeAll();
    expect(runs(pid)).toBe(false);
  });

  it("is lost as well when it only closes its stdin", async () => {
    const { call, ask } = launch();
    await call("closeStdin");
    const error = await failureOf(ask("echo"));
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("closed its stdin before it answered echo (id 2)");
  });

  it("does not crash us while we write to it", async () => {
    const { call, ask } = launch();
    const { pid } = await call("pid");
    const text = "x".repeat(1_000_000);
    const calls = Array.from({ length: 10 }, () => failureOf(ask("hang", { text })));
    process.kill(pid as number, "SIGKILL");
    for (const { code } of await Promise.all(calls)) expect(code).toBe("connection_lost");
  });

  it("is started again by the next exchange", async () => {
    const { call, ask } = launch();
    const first = await call("pid");
    await failureOf(ask("die"));
    const second = await call("pid");
    expect(second["pid"]).not.toBe(first["pid"]);
    expect(runs(first["pid"])).toBe(false);
  });

  it("is started again when it had died with nothing in flight", async () => {
    const { call } = launch();
    const { pid } = await call("pid");
    process.kill(pid as number, "SIGKILL");
    await ended(pid);
    await vi.waitFor(async () => expect((await call("pid"))["pid"]).not.toBe(pid), 10_000);
  });

  it("is not started again without `restart`", async () => {
    const { ask } = launch([], { restart: false });
    await failureOf(ask("exit", { code: 4 }));
    const error = await failureOf(ask("echo"));
    expect(error).toMatchObject({ code: "connection_lost", cause: { exitCode: 4 } });
    expect(error.message).toContain("exited with code 4 before it answered echo (id 2)");
  });

  it("is started again only so often", async () => {
    const { ask } = launch(["--die-at-start"], { maxRestarts: 2 });
    const failures = [];
    for (let i = 0; i < 4; i++) failures.push(await failureOf(ask("echo")));
    expect(failures.map(({ code }) => code).slice(0, 2)).toEqual(["connection_lost", "connection_lost"]);
    expect(failures.at(-1)).toMatchObject({ code: "connect_failed", cause: { exitCode: 7 } });
    expect(failures.at(-1)?.message).toContain("cannot start: no database");
    expect(failures.at(-1)?.message).toContain("started again 2 times within 60000 ms (maxRestarts)");
  });
});

describe("a server that cannot be started", () => {
  it("fails the first exchange, naming the command", async () => {
    const { ask } = launch([], { command: "mica-no-such-program" });
    const error = await failureOf(ask("echo"));
    expect(error.code).toBe("connect_failed");
    expect(error.message).toBe(
      'The server "mica-no-such-program" could not be started: there is no such program',
    );
    expect(error.cause).toMatchObject({ code: "ENOENT" });
  });

  it("fails it just as well when the attempt is over by then, and without `restart`", async () => {
    for (const restart of [true, false]) {
      const { ask } = launch([], { command: "mica-no-such-program", restart });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await failureOf(ask("echo"))).toMatchObject({ code: "connect_failed" });
    }
  });

  it("says that the program may not be executed", async () => {
    const directory = mkdtempSync(join(tmpdir(), "mica-stdio-"));
    const file = join(directory, "plain.txt");
    writeFileSync(file, "not a program");
    chmodSync(file, 0o644);
    const { ask } = launch([], { command: file });
    const error = await failureOf(ask("echo"));
    expect(error).toMatchObject({ code: "connect_failed", cause: { code: "EACCES" } });
    expect(error.message).toContain(
      `${JSON.stringify(file)} could not be started: this user may not execute it`,
    );
    rmSync(directory, { recursive: true });
  });

  it("says that its directory does not exist", async () => {
    const { ask } = launch([], { cwd: "/no/such/directory" });
    const error = await failureOf(ask("echo"));
    expect(error.message).toContain('its working directory "/no/such/directory" does not exist');
  });

  it("says what is wrong with an argument", async () => {
    const { ask } = launch(["a\0b"]);
    const error = await failureOf(ask("echo"));
    expect(error).toMatchObject({ code: "connect_failed", cause: { code: "ERR_INVALID_ARG_VALUE" } });
  });
});

describe("closing", () => {
  it("ends a server that obeys by closing its stdin alone", async () => {
    const { call, transport } = launch([], { closeMs: 1_000_000 });
    const { pid } = await call("pid");
    await transport.close();
    expect(runs(pid)).toBe(false);
  });

  it.each([
    ["the end of its input", ["--ignore-eof"]],
    ["the end of its input and SIGTERM", ["--ignore-eof", "--ignore-sigterm"]],
  ])("ends a server that ignores %s", async (_, flags) => {
    const { call, transport } = launch(flags, { closeMs: 50, killMs: 50 });
    const { pid } = await call("pid");
    await transport.close();
    expect(runs(pid)).toBe(false);
  });

  it("ends what the server has started, though it outlives the server", async () => {
    const { call, transport } = launch([], { closeMs: 1000 });
    const { pid, grandchild } = await call("family");
    expect(runs(grandchild)).toBe(true);
    await transport.close();
    expect(runs(pid)).toBe(false);
    await ended(grandchild);
  });

  it("rejects what is in flight, and every exchange afterwards", async () => {
    const { ask, call, transport } = launch();
    await call("echo");
    const hanging = failureOf(ask("hang"));
    const closing = transport.close();
    expect(await hanging).toMatchObject({ code: "closed" });
    expect(await failureOf(ask("echo"))).toMatchObject({ code: "closed" });
    await Promise.all([closing, transport.close()]);
  });

  it("of a server that never started is no problem", async () => {
    const { transport } = launch([], { command: "mica-no-such-program" });
    await transport.close();
    await transport.close();
  });
});

describe("descendants", () => {
  it("of a server that died are ended without being asked", async () => {
    const { ask } = launch();
    const error = await failureOf(ask("orphan"));
    const pid = Number(/grandchild (\d+)/.exec(error.message)?.[1]);
    expect(pid).toBeGreaterThan(0);
    await ended(pid);
  });

  it("that left the group and hold the pipes do not keep the exchange waiting", async () => {
    const { ask } = launch();
    const error = await failureOf(ask("orphan", { detached: true }));
    expect(error).toMatchObject({ code: "connection_lost", cause: { exitCode: 0 } });
    const pid = Number(/grandchild (\d+)/.exec(error.message)?.[1]);
    await closeAll();
    process.kill(pid, "SIGKILL");
    await ended(pid);
  });
});

describe("this process's own end", () => {
  let launching: Bundle;
  beforeAll(async () => {
    launching = await bundle("launching.ts");
  });
  afterAll(() => launching.remove());

  async function run(how: string, after?: (child: ReturnType<typeof spawn>) => void) {
    const child = spawn(process.execPath, [launching.file, how, SERVER], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    child.stdout?.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr?.resume();
    while (!stdout.includes("\n")) await once(child.stdout as NonNullable<typeof child.stdout>, "data");
    const { pid, grandchild } = JSON.parse(stdout.split("\n")[0] as string).result;
    after?.(child);
    const [code, signal] = await once(child, "exit");
    await Promise.all([ended(pid), ended(grandchild)]);
    return { code, signal, stdout };
  }

  it("by process.exit ends a server that obeys nothing, and what it started", async () => {
    expect(await run("exit")).toMatchObject({ code: 3 });
  });

  it("by an exception does, too", async () => {
    expect(await run("throw")).toMatchObject({ code: 1 });
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "by %s does, too, and is still an end by that signal",
    async (name) => {
      expect(await run("stay", (child) => child.kill(name))).toMatchObject({ code: null, signal: name });
    },
  );

  it("is left to the program where it listens for the signal itself", async () => {
    const { code, stdout } = await run("own-handler", (child) => child.kill("SIGINT"));
    expect(code).toBe(9);
    expect(stdout).toContain("handled");
  });
});
