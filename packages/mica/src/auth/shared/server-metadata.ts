/** The metadata of an authorization server, found and checked (RFC 8414; OpenID Connect Discovery). */
import { expectObject, type FetchJsonOptions, fetchJson } from "./fetch-json.js";
import { readSecureUrl } from "./secure-url.js";
import { authorizationServerMetadataUrls } from "./well-known.js";

/** The members that are used by name; all others come along as they are. */
export interface ServerMetadata {
  readonly issuer: string;
  readonly [member: string]: unknown;
}

/**
 * Looks at each well-known URL in order. Metadata that names another issuer must not be used (RFC 8414, section 3.3):
 * the comparison is one of strings, without any normalization.
 *
 * @throws Error saying what came of every URL that was tried.
 * @example const { jwks_uri } = await fetchServerMetadata("https://auth.example.com", { timeoutMs: 5000, maxBytes: 65536 });
 */
export async function fetchServerMetadata(
  issuer: string,
  options: Pick<FetchJsonOptions, "timeoutMs" | "maxBytes">,
): Promise<ServerMetadata> {
  const problems: string[] = [];
  for (const address of authorizationServerMetadataUrls(issuer)) {
    try {
      const url = readSecureUrl(address, "authorization server");
      const found = expectObject(await fetchJson(url, options), url);
      if (found["issuer"] === issuer) return found as ServerMetadata;
      problems.push(`${address} is the metadata of issuer ${JSON.stringify(found["issuer"])}`);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`No metadata of the authorization server ${issuer}: ${problems.join("; ")}`);
}

/** An endpoint that metadata names. @throws Error where it is missing or not secure */
export function endpointOf(metadata: ServerMetadata, member: string): URL {
  const value = metadata[member];
  if (typeof value !== "string") throw new Error(`The metadata of ${metadata.issuer} has no ${member}`);
  return readSecureUrl(value, `${member} of ${metadata.issuer}`);
}
