/** What `mica cost` prints for people. */
import type { CostDifference } from "../engine/cost/compare.js";
import type { Amount, CatalogueCost, EntryCost } from "../engine/cost/count.js";
import type { ResultCost } from "../engine/cost/result.js";
import type { Saving } from "../engine/cost/savings.js";
import { cell } from "./listing.js";
import type { Screen } from "./screen.js";
import { table } from "./table.js";

/** The member `result` of what `--json` prints. */
export interface Report extends CatalogueCost {
  readonly encoding: "o200k_base";
  readonly share: { readonly window: number; readonly percent: number };
  /** Each by itself. */
  readonly savings: readonly Saving[];
  readonly savedTogether: Amount;
  readonly call: ({ readonly tool: string; readonly isError: boolean } & ResultCost) | null;
  readonly budget: { readonly tokens: number; readonly exceeded: boolean } | null;
  readonly difference: CostDifference | null;
  /** Whether every list was read to its end. */
  readonly complete: boolean;
}

/** Entries of a list that are shown without `--verbose`. */
const ENTRIES = 10;
const ONE_OF = { resources: "resource", resourceTemplates: "template", prompts: "prompt" } as const;
const MAIN_KEYS = ["name", "description", "inputSchema", "outputSchema", "annotations"];

export async function printCost({ out }: Screen, report: Report, verbose: boolean): Promise<void> {
  const { bold, dim } = out.paint;
  const { total, share, instructions, call, budget, difference } = report;
  const lines = [
    bold(`${total.everyConversation} tokens in every conversation`) +
      dim(` (${share.percent} % of a window of ${share.window}; o200k_base)`),
    ...rows([
      ["instructions", String(instructions)],
      [
        counted(report.tools.length, "tool"),
        `${total.tools.read}`,
        "name, description and input schema of each",
      ],
      ["", String(total.tools.listed), "everything that is listed of them"],
      ...(["resources", "resourceTemplates", "prompts"] as const)
        .filter((list) => report[list].length > 0)
        .map((list) => [
          counted(report[list].length, ONE_OF[list]),
          String(total[list]),
          "where a host shows the list",
        ]),
    ]),
  ];
  if (report.tools.length > 0) lines.push("", ...toolTable(report, verbose, dim));
  for (const list of ["resources", "resourceTemplates", "prompts"] as const) {
    if (verbose && report[list].length > 0) lines.push("", dim(list), ...entryRows(report[list]));
  }
  if (report.savings.length > 0) lines.push("", ...savingsText(report, verbose, dim));
  if (call !== null) lines.push("", ...callText(call, bold));
  if (difference !== null) lines.push("", ...differenceText(difference, bold, dim));
  if (budget !== null) {
    const verdict = budget.exceeded
      ? out.paint.red(`over the budget of ${budget.tokens} by ${total.everyConversation - budget.tokens}`)
      : `within the budget of ${budget.tokens}`;
    lines.push("", verdict);
  }
  await out.write(`${lines.join("\n")}\n`);
}

function toolTable(report: Report, verbose: boolean, dim: (text: string) => string): string[] {
  const byCost = [...report.tools].sort((a, b) => b.read - a.read);
  const shown = verbose ? byCost : byCost.slice(0, ENTRIES);
  const others = Object.keys(report.keys).filter((key) => !MAIN_KEYS.includes(key));
  const keys = [...MAIN_KEYS.filter((key) => Object.hasOwn(report.keys, key)), ...others];
  const all = {
    name: "all",
    read: report.total.tools.read,
    listed: report.total.tools.listed,
    keys: report.keys,
  };
  const body = [...shown, all].map(({ name, read, listed, keys: of }) => [
    cell(name),
    ...[read, listed, ...keys.map((key) => (Object.hasOwn(of, key) ? (of[key] as number) : 0))].map(String),
  ]);
  const head = ["tool", "read", "listed", ...keys.map(cell)];
  const grid = [head, ...body];
  const lines = table(
    head.map((_, column) => ({ cells: grid.map((row) => row[column] as string), right: column > 0 })),
  );
  const left = byCost.length - shown.length;
  return [
    dim(lines[0] as string),
    ...lines.slice(1, -1),
    ...(left > 0 ? [dim(`... ${left} more; --verbose shows them`)] : []),
    dim(lines.at(-1) as string),
  ];
}

function entryRows(entries: readonly EntryCost[]): string[] {
  return rows(
    [...entries].sort((a, b) => b.tokens - a.tokens).map(({ name, tokens }) => [cell(name), String(tokens)]),
  );
}

/** `1 tool`, `2 tools`. */
function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}

function savingsText(
  { savings, savedTogether }: Report,
  verbose: boolean,
  dim: (text: string) => string,
): string[] {
  const grid = savings.map(({ read, listed, what, tools }) => {
    const where = counted(tools.length, "tool");
    return [String(read), String(listed), what + dim(` (${verbose ? tools.map(cell).join(", ") : where})`)];
  });
  const all = [String(savedTogether.read), String(savedTogether.listed), "all of it together"];
  return [dim("What to cut: tokens that a model reads, tokens listed"), ...numbered([...grid, all])];
}

function callText(call: NonNullable<Report["call"]>, bold: (text: string) => string): string[] {
  const { tool, text, structuredContent, other, uncounted, savings } = call;
  const parts: [string, string][] = [["text", String(text)]];
  if (structuredContent > 0) parts.push(["structured content", String(structuredContent)]);
  if (other > 0) parts.push(["links and resources", String(other)]);
  if (uncounted > 0) parts.push(["images and audio", `${uncounted}, not counted`]);
  return [
    bold(`${text + structuredContent + other} tokens in the result of ${cell(tool)}`),
    ...rows(parts),
    ...savings.map(({ what, tokens }) => `  ${tokens} could be saved: ${what}`),
  ];
}

function differenceText(
  { tools, unchanged, instructions, everyConversation }: CostDifference,
  bold: (text: string) => string,
  dim: (text: string) => string,
): string[] {
  const change = (before: number, after: number) => `${after >= before ? "+" : ""}${after - before}`;
  const grid = tools.map(({ name, before, after }) => [
    change(before ?? 0, after ?? 0),
    cell(name),
    before === null ? "added" : after === null ? "removed" : `${before} -> ${after}`,
  ]);
  if (instructions.before !== instructions.after) {
    const { before, after } = instructions;
    grid.unshift([change(before, after), "(instructions)", `${before} -> ${after}`]);
  }
  const { before, after } = everyConversation;
  return [
    bold(`${change(before, after)} tokens since then: ${before} -> ${after}`),
    ...numbered(grid),
    ...(unchanged > 0 ? [dim(`  ${counted(unchanged, "tool")} unchanged`)] : []),
  ];
}

/** Rows whose first cells are numbers. */
function numbered(grid: readonly (readonly string[])[]): string[] {
  const width = Math.max(0, ...grid.map(([first]) => first?.length ?? 0));
  const second = Math.max(0, ...grid.map((row) => row[1]?.length ?? 0));
  return grid.map(([first = "", middle = "", ...rest]) => {
    const isNumber = /^[+-]?\d+$/.test(middle);
    return `  ${first.padStart(width)}  ${isNumber ? middle.padStart(second) : middle.padEnd(second)}  ${rest.join("  ")}`;
  });
}

function rows(grid: readonly (readonly string[])[]): string[] {
  const columns = Math.max(...grid.map((row) => row.length));
  return table(
    Array.from({ length: columns }, (_, column) => ({ cells: grid.map((row) => row[column] ?? "") })),
  ).map((line) => `  ${line}`);
}
