/** Whether tokens are to be bound to a key, and to which. */
import { AuthError } from "./auth-error.js";
import type { Discovered } from "./discovery.js";
import { createDpopKey, type DpopKey, type DpopMode, loadDpopKey } from "./dpop.js";
import type { Grant } from "./grant.js";
import { listOf } from "./server-metadata.js";

/**
 * @param before What is kept of this server: its key is used again at the same issuer.
 * @throws AuthError `dpop_unavailable`
 */
export async function dpopKeyFor(
  mode: DpopMode,
  { requiresDpop, metadata, resource }: Discovered,
  before: Grant | undefined,
): Promise<DpopKey | undefined> {
  if (mode === "never" && requiresDpop) {
    throw new AuthError(
      "dpop_unavailable",
      `${resource} demands tokens that are bound to a key, and dpop is "never"`,
    );
  }
  if (mode !== "always" && !requiresDpop) return undefined;
  const supported = listOf(metadata, "dpop_signing_alg_values_supported");
  const kept = before?.issuer === metadata.issuer ? before.dpop : undefined;
  if (kept !== undefined && supported?.includes(kept["alg"] ?? "")) return loadDpopKey(kept);
  return createDpopKey(supported);
}

/** @throws TypeError */
export function readDpopMode(mode: unknown): DpopMode {
  if (mode === undefined) return "auto";
  if (mode === "auto" || mode === "always" || mode === "never") return mode;
  throw new TypeError(`dpop: expected "auto", "always" or "never", got ${JSON.stringify(mode)}`);
}
