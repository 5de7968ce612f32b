/** Colours, for terminals whose owner has not declined them. */

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const code = (open: number, close: number) => (text: string) =>
  text === "" ? text : `\x1b[${open}m${text}\x1b[${close}m`;

const COLOURED: Paint = {
  bold: code(1, 22),
  dim: code(2, 22),
  red: code(31, 39),
  yellow: code(33, 39),
  cyan: code(36, 39),
};

const same = (text: string) => text;
const PLAIN: Paint = { bold: same, dim: same, red: same, yellow: same, cyan: same };

export function paint(coloured: boolean): Paint {
  return coloured ? COLOURED : PLAIN;
}
