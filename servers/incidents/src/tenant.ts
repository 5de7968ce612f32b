/** Whose incidents a caller sees, and what a caller needs to see them. */
import type { AuthInfo } from "mica-mcp";

export const READ = "incidents:read";
export const WRITE = "incidents:write";

/** The tenant of whoever is not asked who they are: over stdio, and over HTTP without `--auth`. */
export const NOBODY = "";

/**
 * The `tenant` that the token claims; without one, everybody is a tenant of their own. Written so that no two callers
 * can be mistaken for each other: a tenant may have the name of somebody's principal.
 */
export function tenantOf(auth: AuthInfo | undefined): string {
  if (auth === undefined) return NOBODY;
  const { tenant } = auth.claims;
  return JSON.stringify(
    typeof tenant === "string" && tenant !== "" ? ["tenant", tenant] : ["principal", auth.principal],
  );
}
