/** What differs between two messages, member by member, apart from what may. */
import { isObject, readJson } from "./json.js";

export interface Difference {
  /** Like `result.tools.0.name`; of a text that is JSON, on into it. */
  readonly path: string;
  /** Undefined where there is none. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export interface Comparison {
  readonly differences: readonly Difference[];
  /** Texts that differ where they may: whoever answers with the first must answer with the second now. */
  readonly carried: ReadonlyMap<string, string>;
}

/** Members that are another each time by their nature: what a server seals, and where its next page begins. */
export const ALWAYS_IGNORED: readonly string[] = ["result.requestState", "result.nextCursor"];

/**
 * Makes a test of paths. `*` stands for one level, `**` for any number of them.
 *
 * @example ignoring(["**.createdAt"])("result.structuredContent.0.createdAt") // true
 */
export function ignoring(patterns: readonly string[]): (path: string) => boolean {
  const tests = patterns.map((pattern) => {
    const source = pattern
      .split(/(\*\*\.|\*\*|\*)/)
      .map((part) => {
        if (part === "**.") return "(?:.*\\.)?";
        if (part === "**") return ".*";
        return part === "*" ? "[^.]+" : part.replace(/[.+?^${}()|[\]\\/]/g, "\\$&");
      })
      .join("");
    return new RegExp(`^${source}$`, "s");
  });
  return (path) => tests.some((test) => test.test(path));
}

/** @param isIgnored Tells of a path whether what is there may differ. */
export function compareMessages(
  recorded: unknown,
  replayed: unknown,
  isIgnored: (path: string) => boolean,
): Comparison {
  const differences: Difference[] = [];
  const carried = new Map<string, string>();

  const compare = (before: unknown, now: unknown, path: string): void => {
    if (Object.is(before, now)) return;
    if (isIgnored(path)) {
      carry(before, now, carried);
      return;
    }
    if (Array.isArray(before) && Array.isArray(now)) {
      for (let at = 0; at < Math.max(before.length, now.length); at += 1) {
        compare(before[at], now[at], join(path, String(at)));
      }
      return;
    }
    if (isObject(before) && isObject(now)) {
      for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
        compare(own(before, name), own(now, name), join(path, name));
      }
      return;
    }
    if (typeof before === "string" && typeof now === "string") {
      const [inBefore, inNow] = [structureIn(before), structureIn(now)];
      if (inBefore !== undefined && inNow !== undefined) {
        compare(inBefore, inNow, path);
        return;
      }
    }
    differences.push({ path, recorded: before, replayed: now });
  };
  compare(recorded, replayed, "");
  return { differences, carried };
}

/** Texts that were recorded, replaced by those that have taken their places. */
export function carryOver(value: unknown, carried: ReadonlyMap<string, string>): unknown {
  if (carried.size === 0) return value;
  if (typeof value === "string") return carried.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => carryOver(item, carried));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, carryOver(member, carried)]),
  );
}

function carry(before: unknown, now: unknown, carried: Map<string, string>): void {
  if (typeof before === "string" && typeof now === "string") {
    if (before !== "") carried.set(before, now);
  } else if (Array.isArray(before) && Array.isArray(now)) {
    for (const [at, item] of before.entries()) carry(item, now[at], carried);
  } else if (isObject(before) && isObject(now)) {
    for (const name of Object.keys(before)) carry(own(before, name), own(now, name), carried);
  }
}

/** Many servers put JSON into a text: it is compared for what it says. */
function structureIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const value = readJson(text)?.value;
  return typeof value === "object" && value !== null ? value : undefined;
}

function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
