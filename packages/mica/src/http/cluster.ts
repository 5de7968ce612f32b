/**
 * One server in several processes (node:cluster). Every request stands alone, so any of them can answer it; what they
 * have to share is carried here: changes, for whoever listens in another process, and the key of `requestState`. Sessions
 * of earlier clients stay where they were opened (worker-sessions.ts).
 */
import type { Worker } from "node:cluster";
import { type ChangeMessage, isChangeMessage, relayChanges } from "../bus/cluster.js";
import type { RequestHandler } from "../transport.js";
import { type WorkerSessions, workerSessions } from "./worker-sessions.js";

/** Workers as their primary process sees them. */
export interface Workers {
  /** Where all of them listen. */
  readonly port: number;
  /** Ends them gracefully, and those that take longer than `drainMs` and a second less so. */
  close(): Promise<void>;
}

/** Marks the workers that are started here, so that those of somebody else's cluster are left alone. */
const MARK = "MICA_WORKER";
const STATE_KEY = "MICA_STATE_KEY";
/** Where workers find each other, for sessions. */
const SOCKETS = "MICA_WORKER_SOCKETS";
const CLOSE = { mica: "close" } as const;

/** Workers that died are replaced, unless they keep dying: so often in a minute. */
const MAX_REPLACED = 10;
const MINUTE_MS = 60_000;
const GRACE_MS = 1_000;

let taken = false;

/** Whether this process is a worker that was started here. */
export function isWorker(): boolean {
  return process.env[MARK] !== undefined && nodeCluster().isWorker;
}

/** In a worker, where sessions are kept: its part of them. */
export function workerSessionsHere(): WorkerSessions | undefined {
  const folder = process.env[SOCKETS];
  const own = isWorker() ? nodeCluster().worker?.id : undefined;
  return folder === undefined || own === undefined ? undefined : workerSessions(folder, own);
}

/**
 * Starts the program again in so many processes, and resolves when all of them listen.
 *
 * @param keepsSessions Whether they keep sessions, for which they have to find each other.
 * @throws TypeError where this cannot be: no program, a worker of another cluster, a second server with workers.
 * @throws Error where a worker ends before it listens.
 */
export async function startWorkers(
  handler: RequestHandler,
  count: number,
  drainMs: number,
  keepsSessions: boolean,
): Promise<Workers> {
  const cluster = nodeCluster();
  if (!cluster.isPrimary)
    throw new TypeError("workers: this process is a worker of another cluster, and cannot have its own");
  if (process.argv[1] === undefined)
    throw new TypeError("workers: there is no program to start in other processes");
  if (taken) throw new TypeError("workers: one server of a program can have workers");
  taken = true;

  const workers = new Set<Worker>();
  const replaced: number[] = [];
  let closing: Promise<void> | undefined;
  let starting = true;
  const sockets = keepsSessions ? makeFolder() : undefined;
  const env = {
    [MARK]: "1",
    ...(sockets !== undefined && { [SOCKETS]: sockets }),
    // One of them may have to finish what another began.
    [STATE_KEY]: process.env[STATE_KEY] || randomKey(),
  };
  const sendToAll = (message: ChangeMessage, but?: Worker) => {
    for (const worker of workers) if (worker !== but && worker.isConnected()) worker.send(message);
  };
  const relay = handler.localChanges && relayChanges(handler.localChanges, sendToAll);

  function start(): Worker {
    const worker = cluster.fork(env);
    workers.add(worker);
    worker.on("message", (message: unknown) => {
      if (!isChangeMessage(message)) return;
      relay?.receive(message);
      sendToAll(message, worker);
    });
    worker.on("exit", (code, signal) => {
      workers.delete(worker);
      if (starting || closing !== undefined) return;
      const how = signal ? `by ${signal}` : `with code ${code}`;
      const now = Date.now();
      while (replaced.length > 0 && now - replaced[0]! >= MINUTE_MS) replaced.shift();
      if (replaced.length >= MAX_REPLACED) {
        console.error(
          `[mica] A worker ended ${how} and is not replaced: ${MAX_REPLACED} have been within a minute. ${workers.size} are left.`,
        );
        return;
      }
      replaced.push(now);
      console.error(`[mica] A worker ended ${how} and is replaced.`);
      start();
    });
    return worker;
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      relay?.stop();
      await Promise.all([...workers].map((worker) => end(worker, drainMs)));
      if (sockets !== undefined) fs().rmSync(sockets, { recursive: true, force: true });
      taken = false;
    })();
    return closing;
  }

  cluster.setupPrimary({ exec: process.argv[1], args: process.argv.slice(2) });
  try {
    const ports = await Promise.all(Array.from({ length: count }, () => listening(start())));
    starting = false;
    // All of them share one port, also where any would do.
    return { port: ports[0]!, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Makes this process a worker of its primary: changes go both ways, and it ends when it is told to.
 *
 * @param close Ends what is served here.
 */
export function serveAsWorker(handler: RequestHandler, close: () => Promise<void>): void {
  const relay =
    handler.localChanges && relayChanges(handler.localChanges, (message) => void process.send?.(message));
  process.on("message", (message: unknown) => {
    if (isChangeMessage(message)) relay?.receive(message);
    // Reactions to the end run first, and whatever listens for `exit`.
    else if (isClose(message)) void close().then(() => setImmediate(() => process.exit()));
  });
}

/** Resolves to the port on which a worker listens first. */
function listening(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once("listening", ({ port }) => resolve(port));
    worker.once("exit", (code, signal) => {
      reject(new Error(`A worker ended ${signal ? `by ${signal}` : `with code ${code}`} before it listened`));
    });
  });
}

async function end(worker: Worker, drainMs: number): Promise<void> {
  if (worker.isDead()) return;
  const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  if (worker.isConnected()) worker.send(CLOSE);
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), drainMs + GRACE_MS);
  await gone;
  clearTimeout(timer);
}

function isClose(message: unknown): boolean {
  return typeof message === "object" && message !== null && (message as typeof CLOSE).mica === "close";
}

/** For this user alone, as mkdtemp makes them. */
function makeFolder(): string {
  const { tmpdir } = process.getBuiltinModule("node:os");
  return fs().mkdtempSync(process.getBuiltinModule("node:path").join(tmpdir(), "mica-workers-"));
}

function fs(): typeof import("node:fs") {
  return process.getBuiltinModule("node:fs");
}

function randomKey(): string {
  return process.getBuiltinModule("node:crypto").randomBytes(32).toString("base64url");
}

function nodeCluster(): typeof import("node:cluster").default {
  return process.getBuiltinModule("node:cluster") as unknown as typeof import("node:cluster").default;
}
