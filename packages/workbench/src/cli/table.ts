/** Aligned columns. */
import { columnsOf, cut } from "./terminal.js";

export interface Column {
  /** The cell's text, already safe to show. */
  readonly cells: readonly string[];
  /** Applied after the width is settled. */
  readonly paint?: (text: string) => string;
  /** Numbers, which stand under each other. */
  readonly right?: boolean;
  /** Fewest columns it is cut to where the terminal is narrow; without it the column is never cut. */
  readonly least?: number;
}

const GAP = 2;

/** Lines of a table; `width` is that of the terminal, undefined where lines may be of any length. */
export function table(columns: readonly Column[], width?: number): string[] {
  const shown = columns.filter(({ cells }) => cells.some((cell) => cell !== ""));
  const widths = shown.map(({ cells }) => Math.max(...cells.map(columnsOf)));
  if (width !== undefined) narrow(shown, widths, width);
  const rows = shown[0]?.cells.length ?? 0;
  return Array.from({ length: rows }, (_, row) => {
    const texts = shown.map(({ cells, paint = (text) => text, right = false }, index) => {
      const room = widths[index] as number;
      const text = cut(cells[row] as string, room);
      const gap = " ".repeat(room - columnsOf(text));
      return right ? gap + paint(text) : paint(text) + gap;
    });
    return texts.join(" ".repeat(GAP)).trimEnd();
  });
}

/** Takes the excess from the widest column that may be cut, again and again. */
function narrow(columns: readonly Column[], widths: number[], width: number): void {
  let excess = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1)) - width;
  while (excess > 0) {
    let widest = -1;
    for (const [index, { least }] of columns.entries()) {
      const room = widths[index] as number;
      if (least !== undefined && room > least && room > (widths[widest] ?? 0)) widest = index;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] as number) - 1;
    excess -= 1;
  }
}
