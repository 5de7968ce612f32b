/** What is known of who is signed in, for people. */
import type { Account } from "mica-mcp/auth/client";
import type { Paint } from "./paint.js";
import { visibleLine } from "./terminal.js";

const shown = (value: string): string => visibleLine(value);

/** Lines of labels and values. */
export function accountLines(account: Account, { dim }: Paint, now = Date.now()): string[] {
  const { identity, resource, issuer, clientId, scopes, tokenType, isSignedIn } = account;
  const who =
    identity && (identity["email"] ?? identity["preferred_username"] ?? identity["name"] ?? identity["sub"]);
  const rows: [string, string][] = [
    ...(who === undefined ? [] : [["as", shown(who)] as [string, string]]),
    ["resource", shown(resource)],
    ["issuer", shown(issuer)],
    ["client", shown(clientId)],
    ["scopes", scopes.map(shown).join(" ") || "none that it names"],
    [
      "token",
      isSignedIn
        ? `${tokenType === "DPoP" ? "bound to a key, " : ""}${lifetime(account, now)}`
        : "none any more",
    ],
  ];
  return rows.map(([label, value]) => `  ${dim(label.padEnd(10))}${value}`);
}

function lifetime({ expiresAt, isRefreshable }: Account, now: number): string {
  const refreshed = isRefreshable ? ", refreshed by itself" : "";
  if (expiresAt === undefined) return `without an end that is known${refreshed}`;
  const minutes = Math.round((expiresAt - now) / 60_000);
  return `${minutes > 0 ? `for another ${duration(minutes)}` : "over"}${refreshed}`;
}

function duration(minutes: number): string {
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} days`;
}
