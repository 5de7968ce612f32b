/** What has become dearer or cheaper since `mica cost --json` was written to a file. */
import { readFile } from "node:fs/promises";
import { isObject, readJson } from "../json.js";
import { UsageError } from "../usage-error.js";
import type { CatalogueCost } from "./count.js";

export interface Change {
  readonly name: string;
  /** Tokens that a model reads; null where the tool was not there. */
  readonly before: number | null;
  readonly after: number | null;
}

export interface CostDifference {
  /** Tools that differ, as the server lists them; those that are gone come last. */
  readonly tools: readonly Change[];
  readonly unchanged: number;
  readonly instructions: { readonly before: number; readonly after: number };
  readonly everyConversation: { readonly before: number; readonly after: number };
}

/** What is read of an earlier answer. */
export interface EarlierCost {
  readonly instructions: number;
  readonly tools: ReadonlyMap<string, number>;
  readonly everyConversation: number;
}

/** @throws UsageError where the file is not what `mica cost --json` prints. */
export async function readEarlierCost(path: string): Promise<EarlierCost> {
  const fail = (why: string) => {
    const message = `--diff: ${why}`;
    return new UsageError(message, [{ path: "--diff", message }]);
  };
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw fail(`cannot read ${JSON.stringify(path)}: ${(error as Error).message}`);
  }
  const document = readJson(text.replace(/^\ufeff/, ""))?.value;
  const expected = `expected in ${JSON.stringify(path)} what mica cost --json prints`;
  if (!isObject(document) || document["verb"] !== "cost") throw fail(expected);
  if (document["mica"] !== 1)
    throw fail(`${expected} in version 1, got version ${JSON.stringify(document["mica"])}`);
  const { result } = document;
  if (!isObject(result)) throw fail(`${expected}, got a failure`);
  const { instructions, tools, total, encoding } = result;
  if (encoding !== "o200k_base")
    throw fail(`${expected} in tokens of o200k_base, got ${JSON.stringify(encoding)}`);
  if (
    !isCount(instructions) ||
    !Array.isArray(tools) ||
    !isObject(total) ||
    !isCount(total["everyConversation"])
  ) {
    throw fail(expected);
  }
  const read = new Map<string, number>();
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool["name"] !== "string" || !isCount(tool["read"])) throw fail(expected);
    read.set(tool["name"], tool["read"]);
  }
  return { instructions, tools: read, everyConversation: total["everyConversation"] };
}

export function compareCost(earlier: EarlierCost, now: CatalogueCost): CostDifference {
  const names = new Set(now.tools.map(({ name }) => name));
  const present = now.tools.map(({ name, read }) => ({
    name,
    before: earlier.tools.get(name) ?? null,
    after: read,
  }));
  const gone = [...earlier.tools].filter(([name]) => !names.has(name));
  const changes: Change[] = [
    ...present.filter(({ before, after }) => before !== after),
    ...gone.map(([name, before]) => ({ name, before, after: null })),
  ];
  return {
    tools: changes,
    unchanged: present.length - present.filter(({ before, after }) => before !== after).length,
    instructions: { before: earlier.instructions, after: now.instructions },
    everyConversation: { before: earlier.everyConversation, after: now.total.everyConversation },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
