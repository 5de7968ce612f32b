/** What a catalogue of three tools costs whoever reads it: tokens and bytes of `tools/list`. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { askLine, greet } from "../measure/lines-load.mjs";
import { contender, start, stop } from "../measure/processes.mjs";
import { rowsOf } from "../measure/rounds.mjs";
import { earlierRequest, request } from "../message.mjs";

export const title = "Catalogue of three tools, in tokens of o200k";

const CONTENDERS = [
  { name: "mica", file: "contenders/catalogue-mica" },
  { name: "official 2.4", file: "contenders/catalogue-official" },
  { name: "sdk 1.32", file: "contenders/catalogue-sdk1", earlier: true },
  { name: "fastmcp", file: "peers/catalogue-fastmcp", earlier: true, full: true },
];

/** There is no floor here: ratios are to the first, which is Mica. */
export async function run({ quick }) {
  const samples = new Map();
  for (const { name, file, earlier } of CONTENDERS.filter(({ full }) => !(quick && full))) {
    const child = start(contender(file), { ipc: false, stderr: "ignore" });
    try {
      await greet({ child, earlier });
      const { tools } = await askLine(child, (earlier ? earlierRequest : request)(1, "tools/list", {}));
      const json = JSON.stringify(tools);
      samples.set(name, [
        {
          "tokens a model reads": sum(
            tools.map(({ name, description, inputSchema }) => tokens({ name, description, inputSchema })),
          ),
          "tokens of everything listed": sum(tools.map(tokens)),
          bytes: Buffer.byteLength(json),
        },
      ]);
    } finally {
      await stop(child);
    }
  }
  return rowsOf("tools/list", samples);
}

const tokens = (value) => countTokens(JSON.stringify(value));
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
