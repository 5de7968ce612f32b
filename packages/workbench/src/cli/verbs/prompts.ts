/** `mica prompts`: lists the prompts. */
import type { Prompt } from "mica-mcp/client";
import { promptArguments } from "../../engine/arguments.js";
import { cell, indented, listWarnings, summaryCell } from "../listing.js";
import type { Screen } from "../screen.js";
import { table } from "../table.js";
import { visible } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ options, open }: VerbContext): Promise<Answer> {
  const { client, call } = await open();
  const listing = await client.listPrompts(call);
  return {
    result: listing,
    warnings: listWarnings(listing),
    print: (screen) =>
      options.verbose ? printAll(screen, listing.prompts) : printTable(screen, listing.prompts),
  };
}

async function printTable({ out, say }: Screen, prompts: readonly Prompt[]): Promise<void> {
  if (prompts.length === 0) return say("The server lists no prompts.");
  const lines = table(
    [
      { cells: prompts.map(({ name }) => cell(name)), paint: out.paint.bold },
      { cells: prompts.map(summaryCell), paint: out.paint.dim, least: 20 },
      { cells: prompts.map(argumentsCell), least: 20 },
    ],
    out.columns,
  );
  await out.write(`${lines.join("\n")}\n`);
}

async function printAll({ out, say }: Screen, prompts: readonly Prompt[]): Promise<void> {
  if (prompts.length === 0) return say("The server lists no prompts.");
  const { bold, dim } = out.paint;
  const texts = prompts.map((prompt) => {
    const { name, title, description } = prompt;
    const lines = [bold(cell(name)) + (title ? ` ${dim(cell(title))}` : "")];
    if (typeof description === "string") lines.push(indented(visible(description.trim())));
    for (const argument of promptArguments(prompt)) {
      const about =
        typeof argument.description === "string" ? `: ${visible(argument.description.trim())}` : "";
      lines.push(`  ${cell(argument.name)}${argument.required === true ? "" : "?"}${about}`);
    }
    return `${lines.join("\n")}\n`;
  });
  await out.write(texts.join("\n"));
}

/** `focus, depth?`. */
function argumentsCell(prompt: Prompt): string {
  return promptArguments(prompt)
    .map(({ name, required }) => `${cell(name)}${required === true ? "" : "?"}`)
    .join(", ");
}
