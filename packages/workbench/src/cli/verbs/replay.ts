/** `mica replay`: sends what was recorded again, and tells what is different about the answers. */
import { shown } from "../../engine/json.js";
import { type ReplayDifference, type Replayed, replay } from "../../engine/replay.js";
import { targetName } from "../../engine/target.js";
import { readTranscript } from "../../engine/transcript.js";
import { EXIT } from "../exit.js";
import type { Screen } from "../screen.js";
import { visibleLine } from "../terminal.js";
import type { Answer, VerbContext, VerbWarning } from "../verb.js";

/** The same as for every other verb. */
const TIMEOUT_MS = 60_000;
/** Characters of a value that are shown. */
const MOST_CHARS = 120;

export async function run({ target, operands, options, signal }: VerbContext): Promise<Answer> {
  const [file = ""] = operands;
  const transcript = await readTranscript(file);
  const { ignore, timeoutMs = TIMEOUT_MS } = options;
  const replayed = await replay(transcript, target, { signal, ignore, timeoutMs });
  if (signal.aborted) throw signal.reason;
  const { failure, differences, hasMasked, ...counts } = replayed;
  const warnings: VerbWarning[] = [];
  if (failure !== undefined) warnings.push({ code: "cut_short", message: failure });
  if (hasMasked) {
    const message = "secrets were masked in what was recorded, and were sent as ***";
    warnings.push({ code: "masked", message });
  }
  return {
    result: { ...counts, differences, complete: failure === undefined },
    warnings,
    exitCode: differences.length > 0 ? EXIT.different : failure === undefined ? EXIT.ok : EXIT.unreachable,
    print: (screen) => print(screen, replayed, `${file} to ${targetName(target)}`),
  };
}

async function print(
  { out }: Screen,
  { sent, compared, differences }: Replayed,
  what: string,
): Promise<void> {
  const { bold, red, dim } = out.paint;
  const lines = differences.flatMap((difference) => [
    `${red(difference.kind)} ${bold(titleOf(difference))}`,
    ...difference.differences.flatMap(({ path, recorded, replayed }) => [
      `  ${visibleLine(path)}`,
      `    ${dim("recorded")} ${valueText(recorded)}`,
      `    ${dim("replayed")} ${valueText(replayed)}`,
    ]),
  ]);
  const count = differences.length === 0 ? "nothing differs" : `${differences.length} differ`;
  lines.push(`${visibleLine(what)}: ${sent} sent, ${compared} compared, ${count}`);
  await out.write(`${lines.join("\n")}\n`);
}

function titleOf({ what, method }: ReplayDifference): string {
  return visibleLine(method === undefined ? what : `${what} (${method})`);
}

function valueText(value: unknown): string {
  return value === undefined ? "nothing" : visibleLine(shown(value, MOST_CHARS));
}
