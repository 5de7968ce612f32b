/** Metadata of an authorization server: found in the order of the specification, used only under its own issuer. */
import { isScope } from "../../protocol/scopes.js";
import type { ServerMetadata } from "../shared/server-metadata.js";
import { authorizationServerMetadataUrls } from "../shared/well-known.js";
import { AuthError, messageOf } from "./auth-error.js";
import { type AuthHttp, jsonObject } from "./auth-http.js";
import { followable } from "./reach.js";

export type { ServerMetadata } from "../shared/server-metadata.js";

/**
 * Tries the well-known URLs of an issuer in order (authorization-server-discovery, Authorization Server Metadata
 * Discovery).
 *
 * @throws AuthError saying what came of each; `issuer_mismatch` where one was there under another issuer.
 */
export async function findServerMetadata(http: AuthHttp, issuer: string): Promise<ServerMetadata> {
  const { search } = followable(issuer, "the authorization server", http.server);
  // "a URL that uses the https scheme and has no query or fragment components" (RFC 8414, section 2).
  if (search !== "" || issuer.includes("#")) {
    throw new AuthError("discovery_failed", `The issuer ${JSON.stringify(issuer)} has a query or a fragment`);
  }
  const problems: string[] = [];
  let isMismatch = false;
  for (const url of authorizationServerMetadataUrls(issuer)) {
    const about = url.includes("openid-configuration") ? "OpenID Connect Discovery" : "RFC 8414";
    try {
      const answer = await http.at("server_metadata", about)(url);
      const json = answer.status === 200 ? await jsonObject(answer) : undefined;
      if (json === undefined) {
        problems.push(
          `${url} answered ${answer.status === 200 ? "no JSON object" : `HTTP ${answer.status}`}`,
        );
        continue;
      }
      return judgeServerMetadata(json, issuer);
    } catch (error) {
      http.signal.throwIfAborted();
      isMismatch ||= error instanceof AuthError && error.reason === "issuer_mismatch";
      problems.push(messageOf(error));
    }
  }
  throw new AuthError(
    isMismatch ? "issuer_mismatch" : "discovery_failed",
    `No metadata of the authorization server ${issuer}: ${problems.join("; ")}`,
  );
}

/** "The `issuer` value returned MUST be identical" (RFC 8414, section 3.3): strings are compared, nothing is normalized. */
export function judgeServerMetadata(json: Readonly<Record<string, unknown>>, issuer: string): ServerMetadata {
  if (json["issuer"] === issuer) return json as ServerMetadata;
  throw new AuthError(
    "issuer_mismatch",
    `Authorization server metadata: expected the issuer ${JSON.stringify(issuer)}, got ${JSON.stringify(json["issuer"])}; metadata of another issuer is not used`,
  );
}

/** @throws AuthError `pkce_unsupported` (security-considerations, Authorization Code Protection). */
export function requirePkce({ issuer, code_challenge_methods_supported: methods }: ServerMetadata): void {
  if (Array.isArray(methods) && methods.includes("S256")) return;
  const got = methods === undefined ? "no code_challenge_methods_supported" : JSON.stringify(methods);
  throw new AuthError(
    "pkce_unsupported",
    `The authorization server ${issuer} does not say that it supports PKCE: expected code_challenge_methods_supported with "S256", got ${got}`,
  );
}

/** @throws AuthError where it is not there, or leads where it must not. */
export function endpoint(metadata: ServerMetadata, member: string, server: URL): URL {
  if (typeof metadata[member] !== "string") {
    throw new AuthError("discovery_failed", `The metadata of ${metadata.issuer} has no ${member}`);
  }
  return followable(metadata[member], `${member} of ${metadata.issuer}`, server);
}

export function listOf(metadata: ServerMetadata, member: string): readonly string[] | undefined {
  const list = metadata[member];
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : undefined;
}

export function offeredScopes(metadata: ServerMetadata): readonly string[] | undefined {
  return listOf(metadata, "scopes_supported")?.filter(isScope);
}

/** Whether a grant can be asked for. The default is that of RFC 8414, section 2. */
export function supportsGrant(metadata: ServerMetadata, grantType: string): boolean {
  const all = listOf(metadata, "grant_types_supported") ?? ["authorization_code", "implicit"];
  return all.includes(grantType);
}
