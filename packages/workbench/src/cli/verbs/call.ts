/** `mica call`: calls a tool. */
import type { CallToolResult } from "mica-mcp/client";
import { prepareDirectory } from "../../engine/binary.js";
import { callTool } from "../../engine/call.js";
import { blockText, type Shown, saveBlocks, savedPaths, saysTheSame } from "../content.js";
import { EXIT } from "../exit.js";
import { ended, type Screen, textFor } from "../screen.js";
import { visible } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run(context: VerbContext): Promise<Answer> {
  const { operands, options, givenArguments, open } = context;
  if (options.copy !== undefined) {
    const { copy } = await import("../copy.js");
    return copy(options.copy, context);
  }
  const [name = ""] = operands;
  const given = await givenArguments();
  if (options.out !== undefined) await prepareDirectory(options.out);
  const { client, call } = await open();
  const result = await callTool(client, name, given, call);
  const shown = await saveBlocks(result.content, options.out, name);
  const failed = result.isError === true;
  return {
    result: options.out === undefined ? result : { ...result, saved: savedPaths(shown) },
    print: (screen) => (failed ? printFailure(screen, result, shown) : printResult(screen, result, shown)),
    exitCode: failed ? EXIT.toolError : EXIT.ok,
  };
}

async function printResult({ out }: Screen, result: CallToolResult, shown: readonly Shown[]): Promise<void> {
  await out.write(textFor(out, resultText(result, shown)));
}

/** What a failed tool says is no output: a pipe gets nothing. */
async function printFailure(
  { err, say }: Screen,
  result: CallToolResult,
  shown: readonly Shown[],
): Promise<void> {
  const text = visible(resultText(result, shown)).trimEnd();
  await say(err.paint.red(text || "The tool failed, and did not say why."));
}

function resultText({ structuredContent }: CallToolResult, shown: readonly Shown[]): string {
  const texts = shown.map(blockText);
  if (structuredContent !== undefined && !saysTheSame(shown, structuredContent)) {
    texts.push(JSON.stringify(structuredContent, null, 2));
  }
  return texts.map(ended).join("");
}
