/** How long a server takes from the start of its process to its first answer: as it was, and bundled. */
import { rmSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { connect } from "mica-mcp/client";
import { NAME, VERSION } from "../version.js";
import { type Bundle, transpile } from "./bundle.js";
import { type Spread, spreadOf } from "./spread.js";

export interface StartTimes {
  /** Median milliseconds. */
  readonly before: number;
  readonly after: number;
  readonly rounds: number;
}

const ROUNDS = 7;
/** Milliseconds to wait for an answer: more than any start takes that this could make shorter. */
const PATIENCE_MS = 10_000;

/**
 * Starts both a few times, taking turns, after one round that fills the disk cache.
 *
 * @param args what the server is started with
 * @throws McpError where it does not answer on stdio
 */
export async function startTimes(
  { entry, file }: Bundle,
  args: readonly string[],
  signal: AbortSignal,
): Promise<StartTimes> {
  const own = join(dirname(file), `.before-${process.pid}.mjs`);
  const runs = /^\.[cm]?js$/.test(extname(entry));
  const before: number[] = [];
  const after: number[] = [];
  try {
    if (!runs) await transpile(entry, own);
    for (let round = 0; round <= ROUNDS; round++) {
      const first = await start(runs ? entry : own, args, signal);
      const second = await start(file, args, signal);
      if (round === 0) continue;
      before.push(first);
      after.push(second);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return { before: median(before), after: median(after), rounds: ROUNDS };
}

async function start(file: string, args: readonly string[], signal: AbortSignal): Promise<number> {
  const began = performance.now();
  const client = await connect(
    { command: process.execPath, args: [file, ...args], restart: false },
    { name: NAME, version: VERSION, signal, limits: { timeoutMs: PATIENCE_MS } },
  );
  const elapsed = performance.now() - began;
  await client.close();
  return elapsed;
}

function median(values: readonly number[]): number {
  return (spreadOf(values) as Spread).median;
}
