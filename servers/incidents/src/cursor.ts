/**
 * Cursors of `search_incidents`. A cursor names the last incident of a page, not an offset: what is opened or
 * resolved between two pages shifts nothing.
 */
import { ToolError } from "mica-mcp";

export function writeCursor(number: number): string {
  return `before-${number}`;
}

/** @throws ToolError for what was not handed out by {@link writeCursor}. */
export function readCursor(cursor: string): number {
  const digits = /^before-([1-9]\d{0,14})$/.exec(cursor)?.[1];
  if (digits !== undefined) return Number(digits);
  const shown = JSON.stringify(cursor.length > 60 ? `${cursor.slice(0, 57)}...` : cursor);
  throw new ToolError(`Invalid cursor ${shown}: expected a nextCursor of search_incidents.`);
}
