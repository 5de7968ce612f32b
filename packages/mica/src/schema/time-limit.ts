/**
 * A bound on the time of a validation. Steps are counted (evaluation.ts), but a regular expression can take longer than
 * anyone lives within one of them: schemas with such a pattern are validated under a clock.
 */
import { isObject } from "../protocol/jsonrpc.js";

/** Milliseconds for one validation: far more than honest ones take. */
export const MAX_VALIDATION_MS = 2_000;

interface Script {
  runInContext(context: object, options: { timeout: number }): unknown;
}

interface Vm {
  createContext(globals: object): Record<string, unknown>;
  Script: new (source: string) => Script;
}

/**
 * Whether a pattern may take more time than its text is long: it repeats a group, repeats without end more than once,
 * or refers back. Says so of some that are harmless, too.
 */
export function maySlowDown(pattern: string): boolean {
  if (/\\(?:[1-9]|k<)/.test(pattern)) return true;
  const bare = pattern.replace(/\\./gs, "x").replace(/\[[^\]]*\]/g, "x");
  if (/\)(?:[*+]|\{\d+(?:,\d*)?\})/.test(bare)) return true;
  const endless = bare.match(/[*+]|\{\d+,(?:\d{3,})?\}/g)?.length ?? 0;
  // Not at the beginning: tried at every place of the text.
  return endless > 1 || (endless === 1 && !bare.startsWith("^"));
}

/** Whether a schema holds such a pattern, wherever. */
export function hasSlowPattern(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasSlowPattern);
  if (!isObject(schema)) return false;
  const { pattern, patternProperties } = schema;
  if (typeof pattern === "string" && maySlowDown(pattern)) return true;
  if (isObject(patternProperties) && Object.keys(patternProperties).some(maySlowDown)) return true;
  return Object.values(schema).some(hasSlowPattern);
}

/**
 * Does the work, for no longer than that where the runtime has a way to end it: Node, Bun and Deno have, browsers and
 * workers have not.
 *
 * @throws Error where it takes longer.
 */
export function withinTime<T>(work: () => T, ms = MAX_VALIDATION_MS): T {
  clock ??= openClock();
  if (clock === "none") return work();
  const { script, context } = clock;
  const outer = context["work"];
  context["work"] = work;
  try {
    return script.runInContext(context, { timeout: ms }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new Error(`validation was given up after ${ms} ms`, { cause: error });
  } finally {
    context["work"] = outer;
  }
}

type Clock = { readonly script: Script; readonly context: Record<string, unknown> } | "none";

let clock: Clock | undefined;

function openClock(): Clock {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  try {
    const vm = process?.getBuiltinModule?.("node:vm") as Vm | undefined;
    return vm === undefined ? "none" : { script: new vm.Script("work()"), context: vm.createContext({}) };
  } catch {
    // Some runtimes have the module in name only.
    return "none";
  }
}
