/** Who the client is to one authorization server, and how it proves that at its endpoints. */
import type { ClientAuth } from "oauth4webapi";
import { type ClientAuthentication, proveClient } from "../shared/client-authentication.js";
import { AuthError } from "./auth-error.js";
import { listOf, type ServerMetadata } from "./server-metadata.js";

export type ClientSource = "preregistered" | "metadata_document" | "registered";

/** A client id that is good at one issuer. */
export interface KnownClient {
  readonly clientId: string;
  readonly source: ClientSource;
  /** Redirect URIs that are registered; empty where they are not known. */
  readonly redirectUris: readonly string[];
  /** How it authenticates at the endpoints of the authorization server, in the words of the registry. */
  readonly method: string;
  readonly prove: ClientAuth;
}

export interface ClientProofOptions {
  /** What the authorization server demands of this client; undefined where it was not said. */
  readonly method?: string | undefined;
  readonly metadata: ServerMetadata;
}

/** RFC 8414, section 2: "If omitted, the default is client_secret_basic". */
const DEFAULT_METHODS = ["client_secret_basic"];

/**
 * Chooses among the methods that the server supports and the client is able to use.
 *
 * @throws AuthError `no_client` where there is none.
 */
export function chooseMethod(client: ClientAuthentication, { method, metadata }: ClientProofOptions): string {
  const able = methodsOf(client);
  if (method !== undefined) {
    if (able.includes(method)) return method;
    throw unusable(client, able, [method], metadata);
  }
  const stated = listOf(metadata, "token_endpoint_auth_methods_supported");
  const supported = stated ?? DEFAULT_METHODS;
  const chosen = able.find((one) => supported.includes(one));
  if (chosen !== undefined) return chosen;
  // A client without a secret has nothing to prove, whatever the list leaves out.
  if (able[0] === "none") return "none";
  throw unusable(client, able, supported, metadata);
}

function methodsOf(client: ClientAuthentication): string[] {
  if ("privateKey" in client) return ["private_key_jwt"];
  if (!("clientSecret" in client)) return ["none"];
  if (client.method !== undefined) return [client.method];
  return ["client_secret_basic", "client_secret_post", "none"];
}

function unusable(
  { clientId }: ClientAuthentication,
  able: readonly string[],
  wanted: readonly string[],
  { issuer }: ServerMetadata,
): AuthError {
  return new AuthError(
    "no_client",
    `The client ${clientId} can authenticate by ${able.join(", ")}; ${issuer} accepts ${wanted.join(", ") || "nothing"}`,
  );
}

/** The proof as `oauth4webapi` takes it. An assertion is addressed to the issuer, so that it is of no use elsewhere. */
export function clientProof(client: ClientAuthentication, method: string): ClientAuth {
  return async (as, _client, body, headers) => {
    const { headers: own, form } = await proveClient(asMethod(client, method, as.issuer), new URL(as.issuer));
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    for (const [name, value] of Object.entries(form)) body.set(name, value);
  };
}

function asMethod(client: ClientAuthentication, method: string, issuer: string): ClientAuthentication {
  const { clientId } = client;
  if ("privateKey" in client) return { audience: issuer, ...client };
  if (!("clientSecret" in client) || method === "none") return { clientId };
  return { clientId, clientSecret: client.clientSecret, method: method as "client_secret_basic" };
}

/** @throws AuthError `no_client` */
export function knownClient(
  client: ClientAuthentication,
  source: ClientSource,
  options: ClientProofOptions & { readonly redirectUris?: readonly string[] },
): KnownClient {
  const method = chooseMethod(client, options);
  return {
    clientId: client.clientId,
    source,
    redirectUris: options.redirectUris ?? [],
    method,
    prove: clientProof(client, method),
  };
}
