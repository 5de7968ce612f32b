/** Words of a server in a dialog: safe to show, and never to be taken for words of this program. */
import type { Implementation } from "mica-mcp/client";
import type { Paint } from "./paint.js";
import { visible, visibleLine } from "./terminal.js";

/** Most characters of a message that are shown; what decides is asked right below it. */
const MOST_CHARACTERS = 4_000;

/** A message behind a bar, line by line. */
export function quoted(text: string, paint: Paint): string[] {
  const shown =
    text.length > MOST_CHARACTERS
      ? `${text.slice(0, MOST_CHARACTERS)}\n... (${text.length - MOST_CHARACTERS} more characters)`
      : text;
  return visible(shown.trim())
    .split("\n")
    .map((line) => `${paint.dim("  |")} ${line}`.trimEnd());
}

/** Who asks: the name that the server has given itself, and the target, which only the caller has chosen. */
export function asker(server: Implementation | undefined, target: string, paint: Paint): string {
  const name = typeof server?.name === "string" ? visibleLine(server.name) : "The server";
  return `${paint.bold(name)} ${paint.dim(`(${visibleLine(target)})`)}`;
}
