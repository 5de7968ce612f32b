/** The wire for people: `>` before what was sent, `<` before what came. */
import type { WireEvent } from "../engine/wire.js";
import type { Paint } from "./paint.js";
import { visible, visibleLine } from "./terminal.js";

/** @param ms Milliseconds since the last message was sent. */
export function wireText(event: WireEvent, ms: number, { dim, bold, red }: Paint): string {
  switch (event.kind) {
    case "sent": {
      const size = dim(`> ${bytesText(event.text)}`);
      const head = (event.head ?? []).map((line) => dim(`> ${visibleLine(line)}`));
      return [...(event.head ? [...head, dim(">")] : [size]), ...behind("> ", event.text, bold)].join("\n");
    }
    case "head":
      return [...event.head.map((line) => dim(`< ${visibleLine(line)}`)), dim("<")].join("\n");
    case "received":
      return [
        dim(`< ${bytesText(event.text)}, after ${Math.round(ms)} ms`),
        ...behind("< ", event.text),
      ].join("\n");
    case "stderr":
      return dim(`! ${visibleLine(event.line)}`);
    case "failed":
      return red(`! ${visibleLine(event.message)}`);
  }
}

function behind(mark: string, text: string, paint: (line: string) => string = (line) => line): string[] {
  if (text === "") return [];
  return visible(text)
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => mark + paint(line));
}

function bytesText(text: string): string {
  const bytes = Buffer.byteLength(text);
  return bytes === 1 ? "1 byte" : `${bytes} bytes`;
}
