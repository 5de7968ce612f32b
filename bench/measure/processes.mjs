/** Processes that are measured: pinned to a core of their own, their processor time and memory read from the system. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Of the machine, whatever this process is pinned to. */
export const cores = cpus().length;

/** Whether server and load have a core each: without `taskset` and two cores they share what there is. */
export const pinned =
  process.platform === "linux" &&
  cores > 1 &&
  spawnSync("taskset", ["-acp", "0", String(process.pid)]).status === 0;

const SERVER_CORE = "1";
const LOAD_CORE = "0";

/** The words that start a program on the core of servers, on that of the load, or on any (`core: "all"`). */
export function onCore(command, core = "server") {
  if (!pinned) return command;
  const coreOf = { server: SERVER_CORE, load: LOAD_CORE, all: `0-${cores - 1}` };
  return ["taskset", "-c", coreOf[core] ?? SERVER_CORE, ...command];
}

/** Where a contender's file is. */
export const contender = (file) => fileURLToPath(new URL(`../${file}.mjs`, import.meta.url));

/**
 * Starts a contender with pipes for stdin and stdout and, unless `ipc` is false, a channel for messages.
 *
 * @param {{ node?: string, flags?: string[], options?: object, args?: string[], core?: string, ipc?: boolean, stderr?: string }} how
 */
export function start(file, how = {}) {
  const {
    node = process.execPath,
    flags = [],
    options = {},
    args = [],
    core,
    ipc = true,
    stderr = "inherit",
  } = how;
  const [command, ...rest] = onCore([node, ...flags, file, ...args], core);
  const child = spawn(command, rest, {
    stdio: ["pipe", "pipe", stderr, ...(ipc ? ["ipc"] : [])],
    env: { ...process.env, BENCH_OPTIONS: JSON.stringify(options) },
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  child.stdin.on("error", () => {});
  return child;
}

/** The next message of a child; rejects where it ends instead, or says nothing for long. */
export function nextMessage(child, withinMs = 60_000) {
  return new Promise((resolve, reject) => {
    const name = child.spawnargs.join(" ");
    const done = (settle, value) => {
      clearTimeout(timer);
      child.off("message", onMessage);
      child.off("exit", onExit);
      settle(value);
    };
    const onMessage = (message) => done(resolve, message);
    const onExit = (code) => done(reject, new Error(`${name} ended with code ${code}`));
    const timer = setTimeout(
      () => done(reject, new Error(`${name} was silent for ${withinMs} ms`)),
      withinMs,
    );
    child.on("message", onMessage);
    child.on("exit", onExit);
  });
}

/** Sends a message and resolves to the answer. */
export function ask(child, message, withinMs) {
  const answer = nextMessage(child, withinMs);
  child.send(message);
  return answer;
}

/** Ends a child and waits for it. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  if (child.connected) child.disconnect();
  child.stdin.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
  await gone;
  clearTimeout(timer);
}

/** Microseconds of processor time that a process has used, all its threads together; undefined where unknown. */
export function cpuMicros(pid) {
  try {
    let nanos = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      nanos += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]);
    }
    return nanos / 1000;
  } catch {
    return undefined;
  }
}

/** Bytes of memory that a process holds; undefined where unknown. */
export function residentBytes(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) * 1024;
  } catch {
    return undefined;
  }
}
