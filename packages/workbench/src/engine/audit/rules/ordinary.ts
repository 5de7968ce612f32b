/** A request that this server answers with a result: what a rule that is about something else sends. */
import type { Audited, Members, Request } from "../audited.js";

export function ordinary(audited: Audited, params: Members = {}): Request {
  return audited.message(ordinaryMethod(audited), params);
}

function ordinaryMethod({ era, speaking, catalogue }: Audited): string {
  if (era === "legacy") return "ping";
  if (speaking.discovered) return "server/discover";
  const [listed] = Object.values(catalogue).flatMap((listing) => listing?.method ?? []);
  return listed ?? "server/discover";
}
