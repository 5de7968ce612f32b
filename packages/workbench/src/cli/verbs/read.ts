/** `mica read`: reads a resource. */
import { McpError, type ResourceContents } from "mica-mcp/client";
import { prepareDirectory, safeFileName, save, sizeText } from "../../engine/binary.js";
import { shown } from "../../engine/json.js";
import { UsageError } from "../../engine/usage-error.js";
import { bytesOf, isResourceContents } from "../content.js";
import { ended, type Outlet, type Screen } from "../screen.js";
import { visible, visibleLine } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ operands, options, open }: VerbContext): Promise<Answer> {
  const [uri = ""] = operands;
  const { out } = options;
  if (out !== undefined) await prepareDirectory(out);
  const { client, call } = await open();
  const result = await client.readResource(uri, call);
  for (const contents of result.contents) check(contents);
  if (out === undefined) return { result, print: (screen) => print(screen, result.contents) };

  const saved: string[] = [];
  for (const contents of result.contents) {
    saved.push(await save(out, safeFileName(contents.uri, contents.mimeType), bytesOf(contents)));
  }
  return {
    result: { ...result, saved },
    print: (screen) => screen.out.write(saved.map((path) => `${path}\n`).join("")),
  };
}

function check(contents: unknown): void {
  if (isResourceContents(contents)) {
    bytesOf(contents);
    return;
  }
  throw new McpError(
    "invalid_response",
    `resources/read: expected a uri with text or blob, got ${shown(contents)}`,
  );
}

async function print({ out }: Screen, contents: readonly ResourceContents[]): Promise<void> {
  if (out.isTerminal) return printOnTerminal(out, contents);
  for (const [index, item] of contents.entries()) {
    if ("blob" in item) await out.write(bytesOf(item));
    // Alone it is written byte for byte; of several, each begins on a line of its own.
    else await out.write(index < contents.length - 1 ? ended(item.text) : item.text);
  }
}

async function printOnTerminal(out: Outlet, contents: readonly ResourceContents[]): Promise<void> {
  for (const item of contents) {
    if (!("blob" in item)) continue;
    const what = [item.mimeType, sizeText(bytesOf(item).length)]
      .filter((part) => part !== undefined)
      .join(", ");
    throw new UsageError(`${item.uri} is binary (${what}); redirect the output, or use --out DIR`);
  }
  for (const item of contents) {
    const head = contents.length > 1 ? `${out.paint.dim(visibleLine(item.uri))}\n` : "";
    await out.write(head + ended(visible("text" in item ? item.text : "")));
  }
}
