/** What `mica load` prints for people. */
import type { Latencies } from "../engine/load/latencies.js";
import type { LoadResult, Second } from "../engine/load/run.js";
import { cell } from "./listing.js";
import type { Screen } from "./screen.js";
import { table } from "./table.js";
import { visibleLine } from "./terminal.js";

/** The member `result` of what `--json` prints. */
export interface LoadReport extends LoadResult {
  readonly binding: "http" | "stdio";
  readonly method: string;
  /** Null where it is not a tool that was called. */
  readonly tool: string | null;
  readonly loop: "closed" | "open";
  readonly connections: number;
  readonly rate: number | null;
  /** Sent before, and not counted. */
  readonly warmUpRequests: number;
}

/** Seconds that are shown one by one; of more, several are shown as one. */
const MOST_ROWS = 20;

export async function printLoad({ out }: Screen, report: LoadReport): Promise<void> {
  const { bold, dim, red } = out.paint;
  const { tool, method, binding, rate, connections, latencyMs, errors, client } = report;
  const how =
    rate === null ? `${connections} in flight` : `${rate} a second, at most ${connections} in flight`;
  const lines = [
    `${bold(`${report.perSecond} answers a second`)} ${dim(`${cell(tool ?? method)} over ${binding}, ${how}, ${report.seconds.toFixed(1)} s`)}`,
    `  answered ${report.answered} of ${report.sent}${countText(report)}; ${report.warmUpRequests} before to warm up`,
  ];
  if (latencyMs !== null) lines.push("", ...latencyText(latencyMs, rate !== null, dim));
  if (errors.length > 0) {
    const rows = errors.map(({ kind, count, example }) => [String(count), cell(kind), visibleLine(example)]);
    lines.push("", red("errors"), ...grid(rows));
  }
  if (report.series.length > 1) lines.push("", ...seriesText(report.series, dim));
  if (client.utilization !== null) {
    lines.push("", dim(`mica itself was busy ${Math.round(100 * client.utilization)} % of the time.`));
  } else if (client.latenessMs !== null) {
    const { p50, p99, max } = client.latenessMs;
    lines.push("", dim(`requests left late by ${p50} ms (p99 ${p99}, at most ${max}).`));
  }
  await out.write(`${lines.join("\n")}\n`);
}

function countText({ failed, unanswered, unsent }: LoadReport): string {
  const parts = [
    failed > 0 && `${failed} failed`,
    unanswered > 0 && `${unanswered} without an answer`,
    unsent > 0 && `${unsent} more were due and not sent`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? `, ${parts.join(", ")}` : "";
}

function latencyText(latencies: Latencies, isOpen: boolean, dim: (text: string) => string): string[] {
  const names = ["min", "mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"] as const;
  const [head = "", values = ""] = table(
    names.map((name) => ({
      cells: [name === "p999" ? "p99.9" : name, latencies[name].toFixed(2)],
      right: true,
    })),
  );
  const from = isOpen ? "from when each request was due" : "from when each request was sent";
  return [dim(`latency in ms, ${from}`), `  ${dim(head)}`, `  ${values}`];
}

function seriesText(series: readonly Second[], dim: (text: string) => string): string[] {
  const step = Math.ceil(series.length / MOST_ROWS);
  const rows: string[][] = [];
  for (let at = 0; at < series.length; at += step) {
    const part = series.slice(at, at + step);
    const slowest = Math.max(...part.map(({ slowestMs }) => slowestMs ?? 0));
    const sum = (of: "answered" | "failed") => part.reduce((total, each) => total + each[of], 0);
    rows.push([String(at), String(sum("answered")), String(sum("failed")), slowest.toFixed(1)]);
  }
  const [head = "", ...body] = grid([["second", "answered", "failed", "slowest ms"], ...rows]);
  return [dim(head), ...body];
}

/** Numbers stand under each other, text begins where the text above begins. */
function grid(rows: readonly (readonly string[])[]): string[] {
  const columns = rows[0]?.length ?? 0;
  const lines = table(
    Array.from({ length: columns }, (_, column) => {
      const cells = rows.map((row) => row[column] ?? "");
      const right = cells.slice(rows.length > 1 ? 1 : 0).every((text) => /^[\d.]+$/.test(text));
      return { cells, right };
    }),
  );
  return lines.map((line) => `  ${line}`);
}
