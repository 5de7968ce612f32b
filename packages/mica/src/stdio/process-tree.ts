/** A child process and everything that it started: they end together, and not later than this process. */

/** Milliseconds that processes may take to obey SIGTERM when nobody can wait for long. */
const HURRIED_MS = 500;
const POLL_MS = 10;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Process ids of children that are the leaders of their own group (on Windows: roots of their tree). */
const trees = new Set<number>();

/** Signals a whole tree; 0 only asks. Says whether there was anything left to signal. */
export function signalTree(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    if (process.platform === "win32" && signal !== 0) {
      // Windows has no signals, and only this reaches the descendants.
      const { spawnSync } = process.getBuiltinModule("node:child_process");
      const options = { stdio: "ignore", windowsHide: true } as const;
      return spawnSync("taskkill", ["/T", "/F", "/PID", String(pid)], options).status === 0;
    }
    return process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    return false;
  }
}

/** SIGTERM, then SIGKILL to what is left after half a second. Resolves when the tree is gone. */
export async function endTree(pid: number): Promise<void> {
  if (!signalTree(pid, "SIGTERM")) return;
  for (let waited = 0; waited < HURRIED_MS; waited += POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (!signalTree(pid, 0)) return;
  }
  signalTree(pid, "SIGKILL");
}

/** Ends the tree when this process ends, until the returned function is called. */
export function endWithThisProcess(pid: number): () => void {
  if (trees.size === 0) {
    process.on("exit", onExit);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  }
  trees.add(pid);
  return () => {
    if (!trees.delete(pid) || trees.size > 0) return;
    process.off("exit", onExit);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

/** Nothing can be waited for any more. */
function onExit(): void {
  for (const pid of trees) signalTree(pid, "SIGKILL");
}

/** A signal that would end this process without its `exit` event. */
async function onSignal(signal: NodeJS.Signals): Promise<void> {
  // Whoever else listens decides what the signal means.
  if (process.listenerCount(signal) > 1) return;
  await Promise.all([...trees].map(endTree));
  for (const name of SIGNALS) process.off(name, onSignal);
  process.kill(process.pid, signal);
}
