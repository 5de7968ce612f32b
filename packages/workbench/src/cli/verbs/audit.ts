/** `mica audit`: what is wrong with a server, with the proof. */
import { type Audit, audit, countBy } from "../../engine/audit/audit.js";
import { jsonReport } from "../../engine/audit/report/json.js";
import { notRunByReason } from "../../engine/audit/run.js";
import { EXIT } from "../exit.js";
import type { Options } from "../options.js";
import type { Screen } from "../screen.js";
import { visible } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

/** Milliseconds to wait for one answer, unless `--timeout` says otherwise: a wait per silent server and rule. */
const ANSWER_MS = 10_000;

export async function run({ target, options, screen, signal }: VerbContext): Promise<Answer> {
  const audited = await audit(target, {
    signal,
    answerMs: options.timeoutMs ?? ANSWER_MS,
    era: options.era,
    only: options.onlyRules,
    skip: options.skipRules,
    allowWrites: options.allowWrites,
    tokens: new Map(options.tokens),
    baseline: options.baseline,
    writeBaseline: options.writeBaseline,
    onRule: progressOf(screen, options),
  });
  clearProgress(screen, options);
  return {
    result: jsonReport(audited),
    exitCode: exitCodeOf(audited, options.strict),
    warnings: notRunByReason(audited.rules).map(({ reason, rules: [first, ...more] }) => ({
      code: "rule_not_run",
      message:
        more.length === 0
          ? `the rule ${first} could not run, so nothing is known about it: ${reason}`
          : `${more.length + 1} rules could not run, so nothing is known about them: ${reason}`,
    })),
    print: (screen) => print(screen, audited, options),
  };
}

/** What is found weighs more than what could not be looked at. */
function exitCodeOf({ findings, rules }: Audit, strict: boolean): number {
  const counts = countBy(findings);
  if (counts.error > 0 || (strict && counts.warning > 0)) return EXIT.findings;
  return rules.some(({ outcome }) => outcome === "not_run") ? EXIT.incomplete : EXIT.ok;
}

async function print({ out }: Screen, audited: Audit, { format, strict, verbose }: Options): Promise<void> {
  if (format === "sarif") {
    const { sarifReport } = await import("../../engine/audit/report/sarif.js");
    return out.write(`${JSON.stringify(sarifReport(audited), null, 2)}\n`);
  }
  if (format === "junit") {
    const { junitReport } = await import("../../engine/audit/report/junit.js");
    return out.write(junitReport(audited, strict));
  }
  const { textReport } = await import("../../engine/audit/report/text.js");
  const { bold, dim, red, yellow, cyan } = out.paint;
  const colours = { error: red, warning: yellow, note: cyan };
  const style = {
    bold,
    dim,
    severity: (severity: keyof typeof colours, text: string) => colours[severity](text),
    safe: visible,
  };
  return out.write(textReport(audited, style, { verbose }));
}

/** The rule that runs, on a terminal. */
function progressOf({ err }: Screen, { progress }: Options) {
  if (!err.isTerminal || progress === false) return undefined;
  return ({ id }: { id: string }) => void err.write(`\r\x1b[2K${err.paint.dim(id)}`).catch(() => {});
}

function clearProgress({ err }: Screen, { progress }: Options): void {
  if (err.isTerminal && progress !== false) void err.write("\r\x1b[2K").catch(() => {});
}
