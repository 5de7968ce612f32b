/** What `mica start` prints for people. */
import type { MeasuredStart } from "../engine/start/measure.js";
import { cell } from "./listing.js";
import type { Screen } from "./screen.js";
import { table } from "./table.js";
import { visibleLine } from "./terminal.js";
import type { StartRatio } from "./verbs/start.js";

interface Report {
  readonly runs: number;
  readonly starts: readonly MeasuredStart[];
  readonly ratio: StartRatio | null;
}

/** Packages that are shown without `--verbose`. */
const PACKAGES = 5;

export async function printStarts(
  { out }: Screen,
  { runs, starts, ratio }: Report,
  verbose: boolean,
): Promise<void> {
  const { bold, dim } = out.paint;
  const lines: string[] = [];
  for (const start of starts) {
    if (lines.length > 0) lines.push("");
    const { server, command } = start;
    const name = server === null ? "(no name)" : `${cell(server.name)} ${cell(server.version)}`;
    lines.push(
      `${bold(name)} ${dim(visibleLine(command))}`,
      ...times(start, dim),
      ...about(start, verbose, dim),
    );
  }
  if (ratio !== null) lines.push("", ...ratioText(starts, ratio, bold));
  lines.push(dim(`\n${runs} ${runs === 1 ? "start" : "starts"} each, after one that fills the disk cache.`));
  await out.write(`${lines.join("\n")}\n`);
}

function times(start: MeasuredStart, dim: (text: string) => string): string[] {
  const { era, tool, discoverMs, listMs, callMs, residentBytes } = start;
  const ms = (value: number) => value.toFixed(value < 100 ? 1 : 0);
  const mb = (value: number) => (value / 1_000_000).toFixed(1);
  const rows = [
    { label: era === "modern" ? "to discover" : "to initialize", spread: discoverMs, unit: "ms", show: ms },
    { label: "to tools/list", spread: listMs, unit: "ms", show: ms },
    { label: tool === null ? "" : `to ${cell(tool)}`, spread: callMs, unit: "ms", show: ms },
    { label: "memory", spread: residentBytes, unit: "MB", show: mb },
  ].flatMap(({ label, spread, unit, show }) =>
    spread === null
      ? []
      : [
          [
            label,
            `${show(spread.median)} ${unit}`,
            ...[spread.min, spread.p25, spread.p75, spread.max].map(show),
          ],
        ],
  );
  const grid = [["", "median", "min", "p25", "p75", "max"], ...rows];
  const lines = table(
    [0, 1, 2, 3, 4, 5].map((column) => ({
      cells: grid.map((row) => row[column] as string),
      right: column > 0,
    })),
  );
  return lines.map((line, index) => `  ${index === 0 ? dim(line) : line}`);
}

function about(start: MeasuredStart, verbose: boolean, dim: (text: string) => string): string[] {
  const { launcher, processes, loaded, installed, tool, listMs } = start;
  const rows: [string, string][] = [];
  if (tool === null && listMs !== null) {
    rows.push(["first call", "none: no tool is read-only and takes no arguments; name one to call it"]);
  }
  if (launcher !== null) {
    rows.push([
      "launcher",
      `${launcher.launcherMs.median.toFixed(0)} ms, then the server ${launcher.serverMs.median.toFixed(0)} ms (by 10 ms): ${visibleLine(launcher.server)}`,
    ]);
  }
  if (processes !== null && processes > 1) rows.push(["processes", String(processes)]);
  if (loaded === null) rows.push(["loads", "not told: no Node server"]);
  else {
    rows.push(["loads", `${loaded.files} files, ${size(loaded.bytes)}`]);
    const shown = verbose ? loaded.packages : loaded.packages.slice(0, PACKAGES);
    for (const { name, files, bytes } of shown) {
      rows.push(["", `${cell(name) || "(outside node_modules)"} ${files}, ${size(bytes)}`]);
    }
    const more = loaded.packages.length - shown.length;
    if (more > 0) rows.push(["", `... ${more} more packages; --verbose shows them`]);
  }
  if (installed !== null) {
    const { packages, bytes, complete } = installed;
    rows.push(["installs", `${packages} packages, ${complete ? "" : "more than "}${size(bytes)}`]);
  }
  return rows.map(([label, text]) => `  ${dim(label.padEnd(12))}${text}`);
}

function ratioText(
  [first, second]: readonly MeasuredStart[],
  ratio: StartRatio,
  bold: (text: string) => string,
): string[] {
  const rows = (
    [
      ["discover", ratio.discoverMs],
      ["tools/list", ratio.listMs],
      ["first call", ratio.callMs],
      ["memory", ratio.residentBytes],
    ] as const
  ).flatMap(([label, value]) => (value === null ? [] : [`  ${label.padEnd(12)}${value.toFixed(2)} times`]));
  return [
    bold(`${visibleLine(second?.command ?? "")} against ${visibleLine(first?.command ?? "")}`),
    ...rows,
  ];
}

function size(bytes: number): string {
  if (bytes >= 1_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return bytes >= 1_000 ? `${(bytes / 1_000).toFixed(0)} kB` : `${bytes} B`;
}
