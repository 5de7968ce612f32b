/** Messages that came of ordinary requests, for rules that hold for every one of them. */
import type { Audited, Members } from "../audited.js";
import { messagesIn, type RawExchange } from "../wire/raw.js";
import { lifeOf } from "./life.js";

export interface Observed {
  readonly message: Members;
  /** The text of it as it came. */
  readonly text: string;
}

/**
 * What came while the catalogue was read: over stdio, all of stdout of one process from its start to its end; over
 * HTTP, the answers. Nothing was subscribed to, no log level and no progress was asked for.
 */
export async function observed(audited: Audited): Promise<readonly Observed[]> {
  const texts =
    audited.binding === "stdio"
      ? (await lifeOf(audited)).lines.map(({ text }) => text)
      : exchangesOf(audited).flatMap(({ texts }) => texts);
  return texts.flatMap((text) => messagesIn([text]).map((message) => ({ message, text })));
}

/** The opening, and every page of the catalogue. */
export function exchangesOf({ speaking, catalogue }: Audited): RawExchange[] {
  const pages = Object.values(catalogue).flatMap((listing) => listing?.pages ?? []);
  return [speaking.opening, ...pages.map(({ exchange }) => exchange)];
}

/** A text of a server as evidence. */
export function quoted(text: string, most = 300): string {
  return text.length > most ? `${text.slice(0, most)}... (${text.length} characters)` : text;
}
