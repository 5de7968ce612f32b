/** Metadata of authorization servers, looked at once in a while. */
import type { AuthHttp } from "./auth-http.js";
import { findServerMetadata, type ServerMetadata } from "./server-metadata.js";

export interface MetadataCache {
  /** @throws AuthError; a failure is not kept. */
  of(http: AuthHttp, issuer: string): Promise<ServerMetadata>;
}

const MAX_ISSUERS = 100;

export function createMetadataCache(maxAgeMs: number): MetadataCache {
  const found = new Map<string, { readonly metadata: ServerMetadata; readonly at: number }>();
  return {
    async of(http, issuer) {
      const known = found.get(issuer);
      if (known !== undefined && Date.now() - known.at < maxAgeMs) return known.metadata;
      const metadata = await findServerMetadata(http, issuer);
      found.delete(issuer);
      found.set(issuer, { metadata, at: Date.now() });
      if (found.size > MAX_ISSUERS) found.delete(found.keys().next().value as string);
      return metadata;
    },
  };
}
