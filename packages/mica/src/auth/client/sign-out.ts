/** Signing out: what was issued is revoked, where that can be done (RFC 7009), and forgotten in any case. */
import * as oauth from "oauth4webapi";
import { AuthError, messageOf } from "./auth-error.js";
import type { ClientOptions } from "./client-options.js";
import type { Grant } from "./grant.js";
import type { SourceContext } from "./grant-source.js";
import { clientOf } from "./refresh.js";
import type { ServerCredentials } from "./server-credentials.js";
import { endpoint } from "./server-metadata.js";

export interface SignedOut {
  readonly issuer: string;
  /** Whether the issuer was told. */
  readonly isRevoked: boolean;
  /** Why not. */
  readonly problem: string | undefined;
}

/** @throws AuthError where it cannot be forgotten. */
export async function signOut(
  credentials: ServerCredentials,
  options: ClientOptions,
  signal: AbortSignal,
): Promise<SignedOut | undefined> {
  let signedOut: SignedOut | undefined;
  await credentials.change(signal, async (grant, context) => {
    if (grant === undefined) return undefined;
    try {
      await revoke(grant, context, options);
      signedOut = { issuer: grant.issuer, isRevoked: true, problem: undefined };
    } catch (error) {
      signal.throwIfAborted();
      signedOut = { issuer: grant.issuer, isRevoked: false, problem: messageOf(error) };
    }
    return undefined;
  });
  return signedOut;
}

async function revoke(
  grant: Grant,
  { http, metadata: cache }: SourceContext,
  options: ClientOptions,
): Promise<void> {
  const { tokens, issuer } = grant;
  if (tokens === undefined) throw new AuthError("token_refused", "There was no token left");
  const metadata = await cache.of(http, issuer);
  endpoint(metadata, "revocation_endpoint", http.server);
  const client = clientOf(grant, metadata, options);
  if (client === undefined) {
    throw new AuthError("no_client", `The client ${grant.client.clientId} is not among the options any more`);
  }
  const send = async (hint: string, token: string): Promise<number> => {
    const answer = await oauth.revocationRequest(
      metadata as oauth.AuthorizationServer,
      { client_id: client.clientId },
      client.prove,
      token,
      {
        additionalParameters: { token_type_hint: hint },
        [oauth.customFetch]: http.at("revocation", `the ${hint.replace("_", " ")}`) as typeof fetch,
        [oauth.allowInsecureRequests]: true,
      },
    );
    return answer.status;
  };
  const { refreshToken, accessToken } = tokens;
  // What could go on for long comes first. Not every server can revoke an access token, which ends soon by itself.
  const status =
    refreshToken === undefined
      ? await send("access_token", accessToken)
      : await send("refresh_token", refreshToken);
  if (status !== 200) {
    throw new AuthError("token_refused", `${issuer} answered HTTP ${status} to a revocation, expected 200`);
  }
  if (refreshToken !== undefined) await send("access_token", accessToken).catch(() => {});
}
