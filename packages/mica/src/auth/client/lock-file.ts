/**
 * A lock that processes share: a file that only one can create. It ends with its holder: the lock of a process that
 * died, or has not been heard of for a while, is taken away by exactly one of those who wait.
 */
import { unlessAborted } from "./store.js";

/** Milliseconds, all of them. */
export interface LockTimes {
  /** After that much silence a holder is taken for gone, on whatever machine it is. */
  readonly staleMs: number;
  /** Between two looks at a lock that is held. */
  readonly pollMs: number;
}

const DEFAULT_LOCK_TIMES: LockTimes = { staleMs: 30_000, pollMs: 25 };

interface Holder {
  /** Of this very lock: the next one has another. */
  readonly id: string;
  readonly pid: number | undefined;
  readonly host: string | undefined;
  /** Milliseconds since it gave a sign of life. */
  readonly silentMs: number;
}

/**
 * @param work Is given a look at whether the lock is still its own: a process that was stopped for long, as on a machine
 *   that slept, may have lost it.
 * @throws what `work` throws; the signal's reason while it waits; errors of the file system.
 */
export async function withLockFile<T>(
  path: string,
  work: (isHeld: () => Promise<boolean>) => Promise<T>,
  signal: AbortSignal,
  times: LockTimes = DEFAULT_LOCK_TIMES,
): Promise<T> {
  const fs = await import("node:fs/promises");
  const { hostname } = await import("node:os");
  const id = crypto.randomUUID();

  async function create(): Promise<boolean> {
    try {
      await fs.writeFile(path, JSON.stringify({ id, pid: process.pid, host: hostname() }), {
        flag: "wx",
        mode: 0o600,
      });
      return true;
    } catch (error) {
      if (isTaken(codeOf(error))) return false;
      throw error;
    }
  }

  async function holder(): Promise<Holder | undefined> {
    try {
      const [{ mtimeMs }, text] = await Promise.all([fs.stat(path), fs.readFile(path, "utf8")]);
      const silentMs = Date.now() - mtimeMs;
      try {
        const { id, pid, host } = JSON.parse(text) as Record<string, unknown>;
        return { id: String(id), pid: Number(pid), host: String(host), silentMs };
      } catch {
        // Created, and not written yet: nothing but its age is known.
        return { id: String(mtimeMs), pid: undefined, host: undefined, silentMs };
      }
    } catch (error) {
      if (codeOf(error) === "ENOENT" || isTaken(codeOf(error))) return undefined;
      throw error;
    }
  }

  function isGone({ pid, host, silentMs }: Holder): boolean {
    if (silentMs > times.staleMs) return true;
    if (pid === undefined || host !== hostname()) return false;
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return codeOf(error) === "ESRCH";
    }
  }

  /** Alone among those who found the same holder gone: another one's lock must not be taken for it. */
  function takeAway(gone: Holder): Promise<void> {
    const remove = async () => {
      if ((await holder())?.id === gone.id) await fs.rm(path, { force: true });
    };
    return withLockFile(`${path}.${gone.id.slice(0, 8)}`, remove, signal, times);
  }

  while (!(await create())) {
    signal.throwIfAborted();
    const held = await holder();
    if (held !== undefined && isGone(held)) await takeAway(held);
    else await unlessAborted(pause(times.pollMs), signal);
  }

  const isHeld = async () => (await holder())?.id === id;
  const alive = setInterval(() => {
    const now = new Date();
    fs.utimes(path, now, now).catch(() => {});
  }, times.staleMs / 4);
  alive.unref();
  try {
    return await work(isHeld);
  } finally {
    clearInterval(alive);
    // It may have been taken away, and be another one's by now.
    if (await isHeld()) await fs.rm(path, { force: true });
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Whether a file is there. Windows says otherwise of one that is being deleted. */
function isTaken(code: string): boolean {
  return code === "EEXIST" || (process.platform === "win32" && (code === "EPERM" || code === "EBUSY"));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
