/** `mica start`: how long a server takes from its start to its answers, and what that takes. */
import { type MeasuredStart, measureStarts } from "../../engine/start/measure.js";
import { tellsProcesses } from "../../engine/start/processes.js";
import type { CommandTarget } from "../../engine/target.js";
import { UsageError } from "../../engine/usage-error.js";
import { EXIT } from "../exit.js";
import { printStarts } from "../start-text.js";
import type { Answer, VerbContext, VerbWarning } from "../verb.js";

export async function run(context: VerbContext): Promise<Answer> {
  const { target, operands, options, signal, givenArguments, report } = context;
  if (target.kind === "url") {
    const message = "expected a command after --: what is at a URL runs already";
    throw new UsageError(`target: ${message}`, [{ path: "target", message }]);
  }
  const { runs, vs } = options.measuring;
  const given = await givenArguments();
  const targets = vs === undefined ? [target] : [target, other(target, vs)];
  const measured = await measureStarts(targets, {
    signal,
    timeoutMs: options.timeoutMs,
    era: options.era,
    runs,
    tool: operands[0],
    given,
    onRun: (progress, total) => report?.({ progressToken: 0, progress, total, message: "starts" }),
  });
  const result = { runs, starts: measured, ratio: ratioOf(measured) };
  return {
    result,
    warnings: warningsOf(measured),
    print: (screen) => printStarts(screen, result, options.verbose),
    exitCode: measured.some(({ toolFailed }) => toolFailed) ? EXIT.toolError : EXIT.ok,
  };
}

/** Started in the same place with the same variables. */
function other(target: CommandTarget, [command = "", ...args]: readonly string[]): CommandTarget {
  return { ...target, command, args };
}

/** How many times as long, or as large, the second is; null where one of both does not tell. */
export interface StartRatio {
  readonly discoverMs: number | null;
  readonly listMs: number | null;
  readonly callMs: number | null;
  readonly residentBytes: number | null;
}

function ratioOf([first, second]: readonly MeasuredStart[]): StartRatio | null {
  if (first === undefined || second === undefined) return null;
  const of = (key: keyof StartRatio) => {
    const one = first[key]?.median;
    const two = second[key]?.median;
    return one === undefined || two === undefined || one === 0 ? null : Math.round((100 * two) / one) / 100;
  };
  return {
    discoverMs: of("discoverMs"),
    listMs: of("listMs"),
    callMs: of("callMs"),
    residentBytes: of("residentBytes"),
  };
}

function warningsOf(measured: readonly MeasuredStart[]): VerbWarning[] {
  const warnings: VerbWarning[] = measured
    .filter(({ toolFailed }) => toolFailed)
    .map(({ tool, command }) => ({
      code: "tool_failed",
      message: `${tool} of ${command} answered that it failed`,
    }));
  if (!tellsProcesses) {
    const message = "memory, and what a launcher takes, are told on Linux only";
    warnings.push({ code: "processes_unknown", message });
  }
  return warnings;
}
