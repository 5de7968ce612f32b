/** Purity of standard output: nothing but messages, from the start to the end (transports/stdio). */
import { isUtf8 } from "node:buffer";
import { isObject } from "../../json.js";
import type { Found, Rule } from "../rule.js";
import type { Line } from "../wire/lines.js";
import { lifeOf } from "./life.js";

export const STDOUT: readonly Rule[] = [
  {
    id: "stdout-pure",
    severity: "error",
    section: "transports/stdio",
    title: "Standard output carries messages and nothing else",
    applies: "stdio",
    async run(audited) {
      const { lines, closedAt } = await lifeOf(audited);
      const first = lines.find(isMessage)?.offset ?? Number.POSITIVE_INFINITY;
      // By what came before it and not by time, so that it is the same in every run.
      const when = ({ offset }: Line) => {
        if (offset < first) return "before the first answer";
        return offset < closedAt ? "while it serves" : "at shutdown";
      };
      return onePerPhase(
        lines.filter((line) => !isMessage(line)),
        when,
      );
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
  {
    id: "stdout-utf8",
    severity: "error",
    section: "transports, Messages",
    title: "Messages are UTF-8",
    applies: "stdio",
    async run(audited) {
      const wrong = (await lifeOf(audited)).lines.find(({ bytes }) => !isUtf8(bytes));
      if (wrong === undefined) return [];
      const first = firstWrongByte(wrong.bytes);
      const around = wrong.bytes.subarray(Math.max(first - 8, 0), first + 8).toString("hex");
      return [
        {
          message: "A line on stdout is no UTF-8",
          evidence: `line ${wrong.number}, byte ${wrong.offset + first}: ${around} (hexadecimal, 8 bytes before and after)`,
          fix: "Encode messages as UTF-8, and write strings whole rather than in pieces of bytes.",
        },
      ];
    },
  },
];

/** A line that is meant as a message of the protocol, or as a batch of earlier revisions. */
function isMessage({ text }: Line): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const all = Array.isArray(value) ? value : [value];
    return all.length > 0 && all.every(isMeantAsMessage);
  } catch {
    return false;
  }
}

/** Other programs log as JSON too. What is wrong with a message is the matter of other rules. */
function isMeantAsMessage(value: unknown): boolean {
  if (!isObject(value)) return false;
  return (
    "jsonrpc" in value || ("id" in value && ("result" in value || "error" in value || "method" in value))
  );
}

function onePerPhase(stray: readonly Line[], when: (line: Line) => string): Found[] {
  const phases = new Map<string, Line[]>();
  for (const line of stray) {
    const phase = phases.get(when(line));
    if (phase) phase.push(line);
    else phases.set(when(line), [line]);
  }
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

function firstWrongByte(bytes: Buffer): number {
  let low = 0;
  let high = bytes.length;
  // The longest beginning that is UTF-8, but for a character that is cut.
  const isFine = (length: number) =>
    [0, 1, 2, 3].some((less) => less <= length && isUtf8(bytes.subarray(0, length - less)));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isFine(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
