/** Framing over standard streams: messages however they are cut, and serving on after what is none (transports/stdio). */
import { pause } from "../../pause.js";
import type { Audited } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import type { Child } from "../wire/child.js";
import { ordinary } from "./ordinary.js";

/** Bytes of a line that is long, and no more than that. */
const LONG_BYTES = 1 << 20;
/** Levels of nesting that a careless reader does not survive. */
const DEEP = 20_000;

/** What a server must survive, each sent as it stands. */
function hostile(audited: Audited): [what: string, bytes: string | Uint8Array][] {
  const long = audited.message("mica/no-such-method", { data: "A".repeat(LONG_BYTES) });
  const twice = JSON.stringify({ ...audited.message("mica/no-such-method"), id: 777 });
  return [
    ["a line that is no JSON", "garbage\n"],
    ["half a message", '{"jsonrpc":"2.0","id":1,"method":"tools/l\n'],
    ["an empty line", "\n"],
    ["a batch", `${JSON.stringify([audited.message("mica/no-such-method")])}\n`],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22, 0x7d, 0x0a])],
    ["JSON that is no object", '"text"\n17\nnull\n'],
    ["a response", '{"jsonrpc":"2.0","id":"nobody-asked","result":{}}\n'],
    ["two requests under one id", `${twice}\n${twice}\n`],
    ["deeply nested JSON", `${"[".repeat(DEEP)}${"]".repeat(DEEP)}\n`],
    [`a line of ${LONG_BYTES >> 10} KiB`, `${JSON.stringify(long)}\n`],
  ];
}

export const FRAMING: readonly Rule[] = [
  {
    id: "serves-on",
    severity: "error",
    section: "JSON-RPC 2.0, 5; transports/stdio",
    title: "The next request is served, whatever came before it",
    applies: "stdio",
    async run(audited) {
      const found: Found[] = [];
      let child = await audited.spawnSpoken();
      for (const [what, bytes] of hostile(audited)) {
        child.write(bytes);
        const asked = ordinary(audited);
        if ((await child.ask(asked, audited.answerMs)) !== undefined) continue;
        const { exit } = child;
        const ended = exit ? `; the process ended with ${exit.signal ?? exit.code}` : "";
        const stderr = child.stderr().trim().split("\n").at(-1)?.slice(0, 200);
        found.push({
          message: `After ${what} nothing is served any more`,
          evidence: `sent ${shownBytes(bytes)}, then ${asked.method}: no answer${ended}${stderr ? `; stderr: ${stderr}` : ""}`,
          fix: "Answer what is no message with an error, and read on after the next newline.",
        });
        child = await audited.spawnSpoken();
      }
      return found;
    },
  },
  {
    id: "message-boundaries",
    severity: "error",
    section: "transports/stdio",
    title: "Messages are told apart by newlines, however their bytes arrive",
    applies: "stdio",
    async run(audited) {
      const found: Found[] = [];
      const child = await audited.spawnSpoken();
      const missing = (what: string, evidence: string) =>
        found.push({
          message: `${what} is not answered`,
          evidence,
          fix: "Gather bytes up to the newline, whatever the size of a read, and decode UTF-8 only then.",
        });

      const [first, second] = [ordinary(audited), ordinary(audited)];
      child.write(`${JSON.stringify(first)}\n${JSON.stringify(second)}\n`);
      if (!(await answered(child, [first["id"], second["id"]], audited.answerMs)))
        missing(
          "One of two messages in one write",
          `sent ${first.method} twice in one write, ids ${first.id} and ${second.id}`,
        );

      // In the middle of a character of two bytes.
      const cut = ordinary(audited, { _meta: { "com.example/mark": "é" } });
      const bytes = Buffer.from(`${JSON.stringify({ ...cut, id: "é" })}\n`);
      const at = bytes.indexOf(0xc3) + 1;
      child.write(bytes.subarray(0, at));
      await pause(50);
      child.write(bytes.subarray(at));
      if (!(await answered(child, ["é"], audited.answerMs)))
        missing(
          "A message that arrives in two pieces",
          `sent ${bytes.toString("utf8").trim()}, cut after byte ${at}`,
        );
      return found;
    },
  },
];

async function answered(child: Child, ids: readonly unknown[], ms: number): Promise<boolean> {
  const all = () => {
    const responses = child.responses();
    return ids.every((id) => responses.some((response) => response["id"] === id)) || undefined;
  };
  return (await child.until(all, ms)) === true;
}

function shownBytes(bytes: string | Uint8Array): string {
  const text =
    typeof bytes === "string" ? JSON.stringify(bytes) : `bytes ${Buffer.from(bytes).toString("hex")}`;
  return text.length > 120 ? `${text.slice(0, 120)}... (${bytes.length} bytes)` : text;
}
