/** `mica tools`: lists the tools. */
import type { Tool } from "mica-mcp/client";
import { signature } from "../../engine/schema-words.js";
import { cell, indented, listWarnings, summaryCell } from "../listing.js";
import type { Screen } from "../screen.js";
import { table } from "../table.js";
import { visible, visibleLine } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ options, open }: VerbContext): Promise<Answer> {
  const { client, call } = await open();
  const listing = await client.listTools(call);
  return {
    result: listing,
    warnings: listWarnings(listing),
    print: (screen) =>
      options.verbose ? printAll(screen, listing.tools) : printTable(screen, listing.tools),
  };
}

async function printTable({ out, say }: Screen, tools: readonly Tool[]): Promise<void> {
  if (tools.length === 0) return say("The server lists no tools.");
  const lines = table(
    [
      { cells: tools.map(({ name }) => cell(name)), paint: out.paint.bold },
      { cells: tools.map(summaryCell), paint: out.paint.dim, least: 20 },
      { cells: tools.map(({ inputSchema }) => cell(signature(inputSchema))), least: 20 },
    ],
    out.columns,
  );
  await out.write(`${lines.join("\n")}\n`);
}

async function printAll({ out, say }: Screen, tools: readonly Tool[]): Promise<void> {
  if (tools.length === 0) return say("The server lists no tools.");
  await out.write(tools.map((tool) => toolText(tool, out.paint)).join("\n"));
}

function toolText(tool: Tool, { bold, dim }: Screen["out"]["paint"]): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const lines = [bold(cell(name)) + (title ? ` ${dim(cell(title))}` : "")];
  lines.push(`  ${visibleLine(signature(inputSchema)) || "no arguments"}`);
  if (typeof description === "string") lines.push(indented(visible(description.trim())));
  if (annotations !== undefined)
    lines.push(`  ${dim("annotations")} ${visibleLine(JSON.stringify(annotations))}`);
  lines.push(`  ${dim("input schema")}`, schemaText(inputSchema));
  if (outputSchema !== undefined) lines.push(`  ${dim("output schema")}`, schemaText(outputSchema));
  return `${lines.join("\n")}\n`;
}

function schemaText(schema: object): string {
  return indented(visible(JSON.stringify(schema, null, 2)), "    ");
}
