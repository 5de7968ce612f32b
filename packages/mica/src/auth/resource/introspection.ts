/** Access tokens that only their issuer can read, judged by asking it (RFC 7662). */
import { type CachedDocument, cacheDocument } from "../shared/cached-document.js";
import {
  type ClientAuthentication,
  checkClientAuthentication,
  proveClient,
} from "../shared/client-authentication.js";
import { expectObject, fetchJson } from "../shared/fetch-json.js";
import { readSecureUrl } from "../shared/secure-url.js";
import { endpointOf, fetchServerMetadata, type ServerMetadata } from "../shared/server-metadata.js";
import { keepForAWhile } from "./kept.js";
import { type AuthLimits, documentTimes } from "./limits.js";
import { type Claims, InvalidTokenError, type TokenVerifier, type VerifierContext } from "./verifier.js";

export interface IntrospectionOptions {
  /** Who is asked: one of the `authorizationServers`. */
  readonly issuer: string;
  /** Where. Default: `introspection_endpoint` of the metadata of the issuer. */
  readonly endpoint?: string;
  /** How this server proves that it may ask (RFC 7662, section 2.1). */
  readonly client: ClientAuthentication;
}

/**
 * Makes a verifier that asks the issuer. Active answers are kept for `limits.introspectionCacheMs` under a digest of
 * the token, and never beyond its expiry. The answer must name an audience and an expiry, which RFC 7662 leaves to
 * the issuer.
 *
 * @throws TypeError naming the option that is wrong.
 * @example verify: introspectionVerifier({ issuer: "https://auth.example.com", client: { clientId: "mcp", clientSecret } })
 */
export function introspectionVerifier(options: IntrospectionOptions): TokenVerifier {
  readSecureUrl(options.issuer, "introspectionVerifier: issuer");
  const { issuer } = options;
  const client = checkClientAuthentication(options.client, "introspectionVerifier: client");
  const endpoint =
    options.endpoint === undefined
      ? undefined
      : readSecureUrl(options.endpoint, "introspectionVerifier: endpoint");
  let metadata: CachedDocument<ServerMetadata> | undefined;

  async function findEndpoint(limits: AuthLimits): Promise<URL> {
    if (endpoint !== undefined) return endpoint;
    metadata ??= cacheDocument(
      () =>
        fetchServerMetadata(issuer, {
          timeoutMs: limits.fetchTimeoutMs,
          maxBytes: limits.maxDocumentBytes,
        }),
      documentTimes(limits),
    );
    return endpointOf(await metadata.current(), "introspection_endpoint");
  }

  async function ask(token: string, limits: AuthLimits): Promise<string | undefined> {
    const url = await findEndpoint(limits);
    const { headers, form } = await proveClient(client, url);
    const reply = await fetchJson(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...form, token, token_type_hint: "access_token" }).toString(),
      timeoutMs: limits.fetchTimeoutMs,
      maxBytes: limits.maxDocumentBytes,
    });
    const { active, iss = issuer, ...claims } = expectObject(reply, url);
    if (active !== true) return undefined;
    // It speaks for its own tokens alone: subjects of another issuer are other people.
    if (iss === issuer) return JSON.stringify({ ...claims, iss });
    throw new InvalidTokenError(`The access token is from another issuer: expected ${issuer}`);
  }

  // Kept as text, so that every request has claims of its own.
  const kept = keepForAWhile<string>();

  return async (token, { authorizationServers, limits }: VerifierContext) => {
    if (!authorizationServers.includes(issuer)) {
      throw new Error(`introspectionVerifier: issuer ${issuer} is not among authorizationServers`);
    }
    const answer = await kept.get(token, limits.maxCached, async () => {
      const json = await ask(token, limits);
      return { value: json, until: json === undefined ? 0 : Date.now() + limits.introspectionCacheMs };
    });
    return answer === undefined ? undefined : (JSON.parse(answer) as Claims);
  };
}
