/** `mica build`: bundles a server into one file, and says what that saved. */
import { relative } from "node:path";
import { type Bundle, bundle } from "../../engine/bundle.js";
import { type StartTimes, startTimes } from "../../engine/start-time.js";
import type { Screen } from "../screen.js";
import { table } from "../table.js";
import { visible, visibleLine } from "../terminal.js";
import type { Answer, LocalContext, VerbWarning } from "../verb.js";

export async function run({ operands, command, options, signal }: LocalContext): Promise<Answer> {
  const [entry] = operands as readonly [string];
  const bundled = await bundle(entry, { to: options.to, external: options.external });
  const warnings: VerbWarning[] = bundled.warnings.map((message) => ({ code: "bundler", message }));
  let start: StartTimes | null = null;
  if (options.measure) {
    try {
      start = await startTimes(bundled, command ?? [], signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const [why] = String((error as Error).message).split("\n");
      warnings.push({ code: "not_measured", message: `its start was not measured: ${why}` });
    }
  }
  const { file, before, after, outside } = bundled;
  return {
    result: { file, map: `${file}.map`, before, after, start, outside },
    warnings,
    print: (screen) => print(screen, bundled, start),
  };
}

async function print(
  { out }: Screen,
  { file, before, after, outside }: Bundle,
  start: StartTimes | null,
): Promise<void> {
  const { bold, dim } = out.paint;
  const rows = [
    ["", "before", "after"],
    ["files", String(before.files), String(after.files)],
    ["bytes", bytesText(before.bytes), bytesText(after.bytes)],
    ...(start ? [["start", `${start.before.toFixed(0)} ms`, `${start.after.toFixed(0)} ms`]] : []),
  ];
  const lines = table([0, 1, 2].map((column) => ({ cells: rows.map((row) => row[column] as string) })));
  const more = [
    ...(start ? [`start: median of ${start.rounds}, from the start of the process to its first answer`] : []),
    ...outside.map(
      ({ name, why }) =>
        `left outside: ${visibleLine(name)} (${why}); it is loaded from where it is installed`,
    ),
  ];
  const text = [
    bold(visible(relative(".", file))),
    ...lines.map((line) => `  ${line}`),
    ...more.map((line) => dim(line)),
  ];
  await out.write(`${text.join("\n")}\n`);
}

function bytesText(bytes: number): string {
  if (bytes >= 1_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return bytes >= 1_000 ? `${(bytes / 1_000).toFixed(0)} kB` : `${bytes} B`;
}
