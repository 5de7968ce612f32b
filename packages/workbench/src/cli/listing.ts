/** What the verbs that list have in common. */
import type { ListOutcome } from "mica-mcp/client";
import { firstLine } from "../engine/first-line.js";
import { visibleLine } from "./terminal.js";
import type { VerbWarning } from "./verb.js";

/** A list that was cut says so. Entries that were left out were reported when that happened. */
export function listWarnings(...outcomes: readonly ListOutcome[]): VerbWarning[] {
  return outcomes.flatMap(({ reason }) =>
    reason === undefined ? [] : [{ code: "list_cut", message: reason }],
  );
}

/** A name, URI or type from a server, for a cell. */
export function cell(value: unknown): string {
  return typeof value === "string" ? visibleLine(value) : "";
}

/** The title, or else the first line of the description. */
export function summaryCell({ title, description }: { title?: unknown; description?: unknown }): string {
  if (typeof title === "string" && title.trim() !== "") return visibleLine(firstLine(title));
  return typeof description === "string" ? visibleLine(firstLine(description)) : "";
}

/** Every line of a text, moved to the right. */
export function indented(text: string, by = "  "): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : by + line))
    .join("\n");
}
