/** A JWT of somebody whom the authorization server trusts, in exchange for a token (RFC 7523, section 2.1). */
import type { ClientAuth } from "oauth4webapi";
import * as oauth from "oauth4webapi";
import { AuthError } from "./auth-error.js";
import type { TokenAsk } from "./machine.js";
import { listOf, supportsGrant } from "./server-metadata.js";
import { requestTokens, type Tokens } from "./token-endpoint.js";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** @throws AuthError; a refusal is final: the same assertion is not sent twice, nor another grant tried. */
export function askWithAssertion(
  { http, discovered: { metadata, resource }, scopes, dpop, nonces }: TokenAsk,
  client: { readonly clientId: string; readonly prove: ClientAuth },
  assertion: string,
): Promise<Tokens> {
  if (listOf(metadata, "grant_types_supported") !== undefined && !supportsGrant(metadata, JWT_BEARER)) {
    throw new AuthError(
      "token_refused",
      `${metadata.issuer} does not take assertions: expected ${JWT_BEARER} among its grant_types_supported`,
    );
  }
  return requestTokens({
    http,
    metadata,
    client,
    dpop,
    nonces,
    rung: "token",
    about: "the assertion for a token",
    send: ({ as, client, prove, options }) =>
      oauth.genericTokenEndpointRequest(
        as,
        client,
        prove,
        JWT_BEARER,
        { assertion, resource, ...(scopes.length > 0 && { scope: scopes.join(" ") }) },
        options,
      ),
  });
}
