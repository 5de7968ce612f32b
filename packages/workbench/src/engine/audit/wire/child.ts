/** A server process, byte by byte: what it writes, where, how it ends, and what it leaves behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { serverEnvironment } from "mica-mcp/testing";
import type { CommandTarget } from "../../target.js";
import type { Members } from "../audited.js";
import { type Descendant, descendants, MARK } from "./descendants.js";
import { createLines, type Line } from "./lines.js";
import { isResponse } from "./raw.js";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  /** Undefined while it runs. */
  readonly exit: Exit | undefined;
  /** Complete lines so far, in an array that grows; `all` gives one that stays, with what has no newline yet. */
  lines(all?: boolean): readonly Line[];
  /** What came on stdout so far, in bytes. */
  readonly written: number;
  stderr(): string;
  /** Bytes as they are, objects as a line. A process that has gone is no matter. */
  write(message: Members | string | Uint8Array): void;
  /** Closes its standard input. */
  endInput(): void;
  signal(name: NodeJS.Signals): void;
  /** Looks again whenever something comes, and when it ends; undefined after so many milliseconds. */
  until<T>(look: () => T | undefined, ms: number): Promise<T | undefined>;
  /** Writes a request and waits for the response with its id. Requests of the server's are refused meanwhile. */
  ask(request: Members, ms: number): Promise<Members | undefined>;
  /** Responses so far. */
  responses(): Members[];
  /** Ended, or undefined after so many milliseconds. */
  exited(ms: number): Promise<Exit | undefined>;
  /** What it started and is still there; undefined where this system does not tell. */
  descendants(): Promise<Descendant[] | undefined>;
  /** Ends it and all that it started. */
  kill(): Promise<void>;
}

/** Those that run: they end with this process, however it ends. */
const running = new Set<number>();

function killGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // Nothing is left of it.
  }
}

function killRunning(): void {
  for (const pid of running) killGroup(pid);
}

/** Bytes of stdout and of stderr, and lines of stdout: a process that writes more is ended, since it may never stop. */
const MOST_BYTES = 64 << 20;
const MOST_LINES = 20_000;

/** Resolves when it runs. @throws Error of the system where it cannot be started. */
export function startChild({ command, args, env, cwd }: CommandTarget): Child {
  const mark = randomUUID();
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: { ...serverEnvironment(env, false), [MARK]: mark },
    stdio: ["pipe", "pipe", "pipe"],
    // The leader of a group of its own, so that whatever it starts can be ended with it.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const pid = child.pid ?? 0;
  const out = createLines();
  const err: Buffer[] = [];
  let bytes = 0;
  let exit: Exit | undefined;
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of [...waiting]) look();
  };
  const keep = (take: (chunk: Buffer) => void) => (chunk: Buffer) => {
    if (bytes > MOST_BYTES || out.ended.length > MOST_LINES) return;
    bytes += chunk.length;
    take(chunk);
    if (bytes > MOST_BYTES || out.ended.length > MOST_LINES) killGroup(pid);
    changed();
  };
  child.stdout?.on("data", keep(out.feed));
  child.stderr?.on(
    "data",
    keep((chunk) => void err.push(chunk)),
  );
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
  child.on("error", () => {
    exit ??= { code: null, signal: null };
    changed();
  });
  child.on("exit", (code, signal) => {
    exit = { code, signal };
    // What was written before it is still in the pipe.
    setTimeout(changed, 20);
    changed();
  });
  if (running.size === 0) process.once("exit", killRunning);
  running.add(pid);

  const answered = new Set<unknown>();

  const self: Child = {
    pid,
    get exit() {
      return exit;
    },
    get written() {
      return out.length;
    },
    lines(all = false) {
      if (!all) return out.ended;
      const rest = out.rest();
      return rest === undefined ? [...out.ended] : [...out.ended, rest];
    },
    stderr: () => Buffer.concat(err).toString("utf8"),
    write(message) {
      const written =
        typeof message === "string" || message instanceof Uint8Array
          ? message
          : `${JSON.stringify(message)}\n`;
      if (child.stdin?.writable) child.stdin.write(written);
    },
    endInput: () => void child.stdin?.end(),
    signal: (name) => void child.kill(name),
    until: (look, ms) =>
      new Promise((resolve) => {
        const settle = (value: Parameters<typeof resolve>[0]) => {
          clearTimeout(timer);
          waiting.delete(again);
          resolve(value);
        };
        const again = () => {
          const found = look();
          if (found !== undefined) settle(found);
        };
        const timer = setTimeout(() => settle(look()), ms);
        waiting.add(again);
        again();
      }),
    responses: () => out.ended.flatMap(({ messages }) => messages).filter(isResponse),
    async ask(request, ms) {
      self.write(request);
      let ended = false;
      let looked = 0;
      const found = await self.until(() => {
        while (looked < out.ended.length) {
          for (const message of out.ended[looked]?.messages ?? []) {
            refuse(message);
            if (isResponse(message) && message["id"] === request["id"]) return { response: message };
          }
          looked += 1;
        }
        if (exit === undefined) return undefined;
        // One more look, for what is still in the pipe.
        if (ended) return { response: undefined };
        ended = true;
        return undefined;
      }, ms);
      return found?.response;
    },
    exited: (ms) => self.until(() => exit, ms),
    descendants: () => descendants(mark, pid),
    async kill() {
      if (running.delete(pid) && running.size === 0) process.off("exit", killRunning);
      for (const { pid: left } of (await descendants(mark, pid).catch(() => [])) ?? []) {
        try {
          process.kill(left, "SIGKILL");
        } catch {
          // It has ended by itself.
        }
      }
      killGroup(pid);
      if (exit === undefined && process.platform === "win32") child.kill("SIGKILL");
      await self.exited(2_000);
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };

  /** No capability was declared, so nothing may be asked but whether we are there. */
  function refuse(message: Members): void {
    const { id, method } = message;
    if (typeof method !== "string" || id === undefined || answered.has(id)) return;
    answered.add(id);
    const answer =
      method === "ping" ? { result: {} } : { error: { code: -32601, message: "Method not found" } };
    self.write({ jsonrpc: "2.0", id, ...answer });
  }
  return self;
}
