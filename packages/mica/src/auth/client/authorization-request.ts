/** The authorization request, and the record of it that its response is judged by (authorization, Authorization Flow Steps). */
import * as oauth from "oauth4webapi";
import { AuthError } from "./auth-error.js";
import { type AuthHttp, jsonObject } from "./auth-http.js";
import type { KnownClient } from "./known-client.js";
import { wantsConsent } from "./scope-selection.js";
import { endpoint, type ServerMetadata } from "./server-metadata.js";

/** Written before the browser leaves: what comes back must fit to it. */
export interface AuthorizationRecord {
  /** Of the metadata that was validated. */
  readonly issuer: string;
  /** Whether it says that responses carry `iss` (RFC 9207, section 3). */
  readonly sendsIssuer: boolean;
  readonly state: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  readonly clientId: string;
}

export interface AuthorizationRequest {
  readonly record: AuthorizationRecord;
  readonly url: URL;
}

export interface AuthorizationParts {
  readonly metadata: ServerMetadata;
  readonly client: KnownClient;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** The thumbprint of the key that tokens are to be bound to. */
  readonly dpopThumbprint: string | undefined;
}

/** Makes the URL to send a person to. PKCE with S256, `state` and `resource` always. */
export async function authorizationRequest(
  http: AuthHttp,
  { metadata, client, redirectUri, resource, scopes, dpopThumbprint }: AuthorizationParts,
): Promise<AuthorizationRequest> {
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const { issuer } = metadata;
  const record: AuthorizationRecord = {
    issuer,
    sendsIssuer: metadata["authorization_response_iss_parameter_supported"] === true,
    state,
    codeVerifier,
    redirectUri,
    clientId: client.clientId,
  };
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    // "regardless of whether authorization servers support it", and as the resource wrote it.
    resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    ...(wantsConsent(scopes) && { prompt: "consent" }),
    ...(dpopThumbprint !== undefined && { dpop_jkt: dpopThumbprint }),
  };
  const url = endpoint(metadata, "authorization_endpoint", http.server);
  const shown =
    metadata["require_pushed_authorization_requests"] === true
      ? { client_id: client.clientId, request_uri: await push(http, metadata, client, parameters) }
      : parameters;
  for (const [name, value] of Object.entries(shown)) url.searchParams.set(name, value);
  return { record, url };
}

/** Hands the request over beforehand, where the server takes it in no other way (RFC 9126). */
async function push(
  http: AuthHttp,
  metadata: ServerMetadata,
  client: KnownClient,
  parameters: Record<string, string>,
): Promise<string> {
  endpoint(metadata, "pushed_authorization_request_endpoint", http.server);
  const answer = await oauth.pushedAuthorizationRequest(
    metadata as oauth.AuthorizationServer,
    { client_id: client.clientId },
    client.prove,
    parameters,
    {
      [oauth.customFetch]: http.at("authorization", "the request, pushed beforehand") as typeof fetch,
      [oauth.allowInsecureRequests]: true,
    },
  );
  const json = await jsonObject(answer);
  const uri = json?.["request_uri"];
  if (answer.status === 201 && typeof uri === "string") return uri;
  const words = [json?.["error"], json?.["error_description"]].filter((word) => typeof word === "string");
  throw new AuthError(
    "access_denied",
    `${metadata.issuer} refused the authorization request (HTTP ${answer.status}${words.map((word) => `, ${word}`).join("")})`,
    { oauthError: typeof json?.["error"] === "string" ? json["error"] : undefined },
  );
}
