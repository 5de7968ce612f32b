/** Who signed in, as the issuer says: for display only. */

const SHOWN = ["sub", "name", "preferred_username", "email"] as const;

/**
 * Reads what an ID token says. It came from the token endpoint itself, which vouches for it (OpenID Connect Core,
 * section 3.1.3.7); nothing is decided by it. Undefined where there is none, or it is another issuer's or client's.
 */
export function identityOf(
  idToken: string | undefined,
  issuer: string,
  clientId: string,
): Record<string, string> | undefined {
  const payload = idToken?.split(".")[1];
  if (payload === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, "+").replace(/_/g, "/")), (character) =>
      character.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const { iss, aud } = claims;
    if (iss !== issuer || ![aud].flat().includes(clientId)) return undefined;
    const shown = SHOWN.flatMap((name) => {
      const value = claims[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    return shown.length > 0 ? Object.fromEntries(shown) : undefined;
  } catch {
    return undefined;
  }
}
