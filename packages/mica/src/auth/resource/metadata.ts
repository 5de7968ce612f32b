/** The protected resource metadata (RFC 9728): the document, where it belongs, and handlers to mount it there. */
import { metadataAnswer } from "../../http/authorization.js";
import { responseOf } from "../../http/fetch-outlet.js";
import type { NodeHandler } from "../../http/node.js";
import { send } from "../../http/node-outlet.js";
import type { Protection, ResourceMetadata } from "../../transport.js";
import { protectedResourceMetadataUrls } from "../shared/well-known.js";
import type { ReadOptions } from "./options.js";

/** Members that say what the protection does, and so cannot be given. */
const OWN = ["resource", "authorization_servers", "scopes_supported", "bearer_methods_supported"];

/** @throws TypeError where `more` names a member that the protection decides. */
export function describeResource(
  { resource, authorizationServers, scopesSupported }: ReadOptions,
  more: Readonly<Record<string, unknown>> = {},
): ResourceMetadata {
  for (const name of OWN) {
    if (Object.hasOwn(more, name)) throw new TypeError(`metadata.${name} is decided by the other options`);
  }
  const urls = protectedResourceMetadataUrls(resource);
  return {
    url: urls[0]!,
    paths: urls.map((url) => new URL(url).pathname),
    json: JSON.stringify({
      resource,
      authorization_servers: authorizationServers,
      ...(scopesSupported.length > 0 && { scopes_supported: scopesSupported }),
      bearer_methods_supported: ["header"],
      ...more,
    }),
  };
}

/**
 * A listener that serves the metadata at whatever path is routed to it, for servers of your own that route only the
 * endpoint to MCP. `serveHttp` serves it by itself.
 *
 * @example app.use("/.well-known/oauth-protected-resource", metadataHandler(protection));
 */
export function metadataHandler({ metadata }: Protection): NodeHandler {
  return (req, res) => {
    const requested = req.headers["access-control-request-headers"];
    send(res, metadataAnswer(metadata, req.method ?? "", requested));
  };
}

/** The same on web standards. */
export function metadataResponse({ metadata }: Protection, request: Request): Response {
  const requested = request.headers.get("access-control-request-headers") ?? undefined;
  return responseOf(metadataAnswer(metadata, request.method, requested));
}
