/** `mica prompt`: gets a prompt. */
import type { GetPromptResult } from "mica-mcp/client";
import { prepareDirectory } from "../../engine/binary.js";
import { getPrompt } from "../../engine/call.js";
import { isObject } from "../../engine/json.js";
import { blockText, type Shown, saveBlocks, savedPaths } from "../content.js";
import { ended, type Screen, textFor } from "../screen.js";
import { visibleLine } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ operands, options, givenArguments, open }: VerbContext): Promise<Answer> {
  const [name = ""] = operands;
  const given = await givenArguments();
  if (options.out !== undefined) await prepareDirectory(options.out);
  const { client, call } = await open();
  const result = await getPrompt(client, name, given, call);
  const blocks = result.messages.map((message: unknown) =>
    isObject(message) ? message["content"] : message,
  );
  const shown = await saveBlocks(blocks, options.out, name);
  return {
    result: options.out === undefined ? result : { ...result, saved: savedPaths(shown) },
    print: (screen) => print(screen, result, shown),
  };
}

async function print({ out }: Screen, { messages }: GetPromptResult, shown: readonly Shown[]): Promise<void> {
  for (const [index, message] of messages.entries()) {
    const role = isObject(message) ? message["role"] : undefined;
    const head = out.paint.bold(`${visibleLine(String(role ?? "(no role)"))}:`);
    const text = ended(textFor(out, blockText(shown[index] as Shown)));
    await out.write(`${index > 0 ? "\n" : ""}${head}\n${text}`);
  }
}
