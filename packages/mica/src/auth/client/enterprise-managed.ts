/**
 * Access that an organization manages: its identity provider vouches for the person, and decides which servers they may
 * use (extension io.modelcontextprotocol/enterprise-managed-authorization).
 */
import * as oauth from "oauth4webapi";
import type { HttpAuth } from "../../http/client-auth.js";
import {
  type ClientAuthentication,
  checkClientAuthentication,
  type KeyAuthentication,
  type SecretAuthentication,
} from "../shared/client-authentication.js";
import { readSecureUrl } from "../shared/secure-url.js";
import { AuthError, messageOf } from "./auth-error.js";
import { requireIssuer } from "./client-options.js";
import { askWithAssertion } from "./jwt-bearer.js";
import { clientProof, knownClient } from "./known-client.js";
import { type MachineOptions, machineAuth, type TokenAsk } from "./machine.js";
import type { ServerMetadata } from "./server-metadata.js";
import { requestTokens } from "./token-endpoint.js";

export interface IdentityProvider {
  readonly issuer: string;
  /** Default: what its metadata says. */
  readonly tokenEndpoint?: string | undefined;
  /** Who this program is to the identity provider: the audience of the identity assertion. */
  readonly client: ClientAuthentication;
}

export interface EnterpriseManagedOptions extends MachineOptions {
  readonly identityProvider: IdentityProvider;
  /** What the person's single sign-on gave: an ID token, or a SAML assertion. Called for every token. */
  readonly identityAssertion: () => string | Promise<string>;
  /** Default `id_token`. */
  readonly assertionType?: "id_token" | "saml2" | undefined;
  /** Who this program is to the authorization server of the MCP server. */
  readonly client:
    | (SecretAuthentication & { readonly issuer: string | "any" })
    | (KeyAuthentication & { readonly issuer?: string | undefined });
}

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/**
 * Gets tokens for a person who is signed in to their organization, without another page.
 *
 * @throws TypeError naming the option that is wrong.
 * @example const auth = enterpriseManaged({ identityProvider, identityAssertion: () => session.idToken, client });
 */
export function enterpriseManaged(options: EnterpriseManagedOptions): HttpAuth {
  const { identityProvider, identityAssertion, client } = options;
  if (typeof identityAssertion !== "function") {
    throw new TypeError(`identityAssertion: expected a function, got ${typeof identityAssertion}`);
  }
  readSecureUrl(identityProvider?.issuer, "identityProvider.issuer");
  checkClientAuthentication(identityProvider.client, "identityProvider.client");
  checkClientAuthentication(client, "client");
  if ("clientSecret" in client) requireIssuer(client.issuer, "client");
  return machineAuth({
    extension: "io.modelcontextprotocol/enterprise-managed-authorization",
    clientId: client.clientId,
    issuer: client.issuer ?? "any",
    options,
    async ask(request) {
      const grant = await identityGrant(request, options);
      const { metadata } = request.discovered;
      return askWithAssertion(request, knownClient(client, "preregistered", { metadata }), grant);
    },
  });
}

/** The identity provider's grant for one authorization server and one resource (RFC 8693). */
async function identityGrant(
  { http, discovered: { metadata, resource }, scopes, nonces, metadata: cache }: TokenAsk,
  { identityProvider, identityAssertion, assertionType = "id_token" }: EnterpriseManagedOptions,
): Promise<string> {
  const { issuer, tokenEndpoint, client } = identityProvider;
  const idp: ServerMetadata =
    tokenEndpoint === undefined ? await cache.of(http, issuer) : { issuer, token_endpoint: tokenEndpoint };
  const assertion = await obtain(identityAssertion, issuer);
  const parameters = {
    requested_token_type: ID_JAG,
    audience: metadata.issuer,
    resource,
    subject_token: assertion,
    subject_token_type: `urn:ietf:params:oauth:token-type:${assertionType}`,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
  };
  const method =
    "privateKey" in client ? "private_key_jwt" : "clientSecret" in client ? client.method : "none";
  const { accessToken, issuedTokenType } = await requestTokens({
    http,
    metadata: idp,
    client: { clientId: client.clientId, prove: clientProof(client, method ?? "client_secret_basic") },
    // The grant is bound to the client by its claims; the token for it will be bound to the key.
    dpop: undefined,
    nonces,
    rung: "identity",
    about: "the identity assertion for a grant to this resource",
    otherTypes: ["N_A"],
    send: ({ as, client, prove, options }) =>
      oauth.genericTokenEndpointRequest(as, client, prove, TOKEN_EXCHANGE, parameters, options),
  });
  if (issuedTokenType === ID_JAG) return accessToken;
  throw new AuthError(
    "token_refused",
    `The identity provider ${issuer} issued a token of another type: expected ${ID_JAG}, got ${JSON.stringify(issuedTokenType)}`,
  );
}

/** @throws AuthError `sign_in_needed` where there is none. */
async function obtain(identityAssertion: () => string | Promise<string>, issuer: string): Promise<string> {
  let assertion: unknown;
  try {
    assertion = await identityAssertion();
  } catch (error) {
    throw new AuthError(
      "sign_in_needed",
      `There is no identity assertion of ${issuer}: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  if (typeof assertion === "string" && assertion !== "") return assertion;
  throw new AuthError(
    "sign_in_needed",
    `There is no identity assertion of ${issuer}: expected a string, got ${typeof assertion}`,
  );
}
