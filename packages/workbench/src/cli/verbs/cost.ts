/** `mica cost`: what the catalogue and the result of a call cost in tokens, and what to cut. */
import { callTool } from "../../engine/call.js";
import { readCatalogue } from "../../engine/cost/catalogue.js";
import { compareCost, readEarlierCost } from "../../engine/cost/compare.js";
import { countCatalogue } from "../../engine/cost/count.js";
import { loadO200k } from "../../engine/cost/o200k.js";
import { countResult } from "../../engine/cost/result.js";
import { findSavings } from "../../engine/cost/savings.js";
import { printCost, type Report } from "../cost-text.js";
import { EXIT } from "../exit.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ operands, options, givenArguments, open }: VerbContext): Promise<Answer> {
  const [tool] = operands;
  const { window, budget, diff } = options.measuring;
  const given = await givenArguments();
  const earlier = diff === undefined ? undefined : await readEarlierCost(diff);
  const [count, { client, call }] = await Promise.all([loadO200k(), open()]);
  const catalogue = await readCatalogue(client, call);
  const cost = countCatalogue(catalogue, count);
  const called = tool === undefined ? undefined : await callTool(client, tool, given, call);
  const { savings, together } = findSavings(catalogue.tools, count);
  const report: Report = {
    encoding: "o200k_base",
    ...cost,
    share: { window, percent: percent(cost.total.everyConversation, window) },
    savings,
    savedTogether: together,
    call:
      tool === undefined || called === undefined
        ? null
        : { tool, isError: called.isError === true, ...countResult(called, count) },
    budget: budget === undefined ? null : { tokens: budget, exceeded: cost.total.everyConversation > budget },
    difference: earlier === undefined ? null : compareCost(earlier, cost),
    complete: catalogue.complete,
  };
  return {
    result: report,
    warnings: catalogue.problems,
    print: (screen) => printCost(screen, report, options.verbose),
    exitCode: exitCode(report),
  };
}

function exitCode({ budget, call, complete }: Report): number {
  if (budget?.exceeded) return EXIT.missed;
  if (!complete) return EXIT.protocol;
  return call?.isError ? EXIT.toolError : EXIT.ok;
}

/** With two decimals. */
function percent(part: number, whole: number): number {
  return Math.round((10_000 * part) / whole) / 100;
}
