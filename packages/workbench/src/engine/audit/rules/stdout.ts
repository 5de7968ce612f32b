/** Purity of standard output: nothing but messages, from the start to the end (transports/stdio). */
import { isObject } from "../../json.js";
import type { Found, Rule } from "../rule.js";
import type { Line } from "../wire/child.js";
import { lifeOf } from "./life.js";

export const STDOUT: readonly Rule[] = [
  {
    id: "stdout-pure",
    severity: "error",
    section: "transports/stdio",
    title: "Standard output carries messages and nothing else",
    applies: "stdio",
    async run(audited) {
      const { lines, startLines, closedAt } = await lifeOf(audited);
      const stray = lines.filter((line) => !isMessage(line));
      const when = (line: Line) =>
        line.number <= startLines
          ? "before any request"
          : line.offset < closedAt
            ? "while it serves"
            : "at shutdown";
      return onePerPhase(stray, when);
    },
  },
  {
    id: "stdout-lines",
    severity: "error",
    section: "transports/stdio",
    title: "Each message is one line that ends with a newline",
    applies: "stdio",
    async run(audited) {
      const { lines } = await lifeOf(audited);
      const last = lines.at(-1);
      if (last === undefined || last.ended || !isMessage(last)) return [];
      return [
        {
          message: "The last message on stdout has no newline",
          evidence: at(last),
          fix: "Write a newline after every message, and flush before the process ends.",
        },
      ];
    },
  },
];

/** A line that holds one message of the protocol, or a batch of earlier revisions. */
function isMessage({ text }: Line): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const all = Array.isArray(value) ? value : [value];
    return all.length > 0 && all.every((one) => isObject(one) && one["jsonrpc"] === "2.0");
  } catch {
    return false;
  }
}

function onePerPhase(stray: readonly Line[], when: (line: Line) => string): Found[] {
  const phases = new Map<string, Line[]>();
  for (const line of stray) phases.set(when(line), [...(phases.get(when(line)) ?? []), line]);
  return [...phases].map(([phase, lines]) => ({
    message: `Something that is no message stands on stdout ${phase}`,
    evidence:
      lines.slice(0, 3).map(at).join("\n") + (lines.length > 3 ? `\n(${lines.length} such lines)` : ""),
    fix: "Write logs to stderr; with Node, point console.log there before anything else is loaded.",
  }));
}

function at({ number, offset, bytes }: Line): string {
  const text = bytes.subarray(0, 120).toString("utf8");
  return `line ${number}, byte ${offset}: ${JSON.stringify(text)}${bytes.length > 120 ? ` (${bytes.length} bytes)` : ""}`;
}
