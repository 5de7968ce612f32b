/** The keys with which an issuer signs: fetched, kept, and fetched again when a token names a new one (RFC 7517). */
import type { createLocalJWKSet } from "jose";
import { type CachedDocument, cacheDocument } from "../shared/cached-document.js";
import { expectObject, fetchJson } from "../shared/fetch-json.js";
import { readSecureUrl } from "../shared/secure-url.js";
import { endpointOf, fetchServerMetadata } from "../shared/server-metadata.js";
import { type AuthLimits, documentTimes } from "./limits.js";

/** Finds the key for the header of a token. */
export type KeyResolver = ReturnType<typeof createLocalJWKSet>;
export type CachedKeys = CachedDocument<KeyResolver>;

/**
 * The keys of one issuer.
 *
 * @param jwksUri Where they are. Default: where the metadata of the issuer says, looked up with every fetch.
 */
export function issuerKeys(issuer: string, jwksUri: string | undefined, limits: AuthLimits): CachedKeys {
  const options = { timeoutMs: limits.fetchTimeoutMs, maxBytes: limits.maxDocumentBytes };

  return cacheDocument(async () => {
    const { createLocalJWKSet: resolverOf } = await import("jose");
    const url =
      jwksUri === undefined
        ? endpointOf(await fetchServerMetadata(issuer, options), "jwks_uri")
        : readSecureUrl(jwksUri, "jwksUri");
    const document = expectObject(await fetchJson(url, options), url);
    if (!Array.isArray(document["keys"])) throw new Error(`${url.href} is not a JSON Web Key Set`);
    return resolverOf(document as unknown as Parameters<typeof createLocalJWKSet>[0]);
  }, documentTimes(limits));
}
