/**
 * Who the client is to an authorization server (client-registration): registered beforehand, by a document under its
 * own URL, or registered now, in that order. What is kept of it is kept under the issuer, and never leaves it.
 */
import * as oauth from "oauth4webapi";
import type { ClientAuthentication } from "../shared/client-authentication.js";
import { AuthError } from "./auth-error.js";
import { type AuthHttp, jsonObject } from "./auth-http.js";
import { type ClientOptions, documentClient, preregisteredFor } from "./client-options.js";
import { type KnownClient, knownClient } from "./known-client.js";
import { endpoint, listOf, type ServerMetadata } from "./server-metadata.js";
import type { AuthStore } from "./store.js";

/** Chooses, and registers where nothing else is left. */
export interface ClientSearch {
  readonly http: AuthHttp;
  readonly metadata: ServerMetadata;
  readonly options: ClientOptions;
  readonly store: AuthStore;
  readonly redirectUri: string;
  readonly dpopAlways: boolean;
}

export const clientKey = (issuer: string): string => `client ${issuer}`;

/** A client that needs no request, with the redirect URIs that are known of it; undefined where one must register. */
export async function existingClient({
  metadata,
  options,
  store,
}: Pick<ClientSearch, "metadata" | "options" | "store">): Promise<KnownClient | undefined> {
  const { issuer } = metadata;
  const given = preregisteredFor(options.preregistered, issuer);
  if (given !== undefined) return knownClient(given, "preregistered", { metadata });
  if (options.document !== undefined && metadata["client_id_metadata_document_supported"] === true) {
    return knownClient(documentClient(options.document), "metadata_document", { metadata });
  }
  const record = (await store.read(clientKey(issuer)))?.value;
  if (record === undefined || isOver(record["secretExpiresAt"])) return undefined;
  return registeredClient(record, metadata);
}

function isOver(expiresAt: unknown): boolean {
  return typeof expiresAt === "number" && expiresAt !== 0 && expiresAt * 1000 <= Date.now();
}

function registeredClient(record: Readonly<Record<string, unknown>>, metadata: ServerMetadata): KnownClient {
  const { clientId, clientSecret, method, redirectUris } = record;
  const client = (
    clientSecret === undefined ? { clientId } : { clientId, clientSecret }
  ) as ClientAuthentication;
  return knownClient(client, "registered", {
    metadata,
    method: method as string | undefined,
    redirectUris: Array.isArray(redirectUris) ? (redirectUris as string[]) : [],
  });
}

/**
 * Registers the client (RFC 7591), once for all who do it at the same time, and keeps what came of it.
 *
 * @throws AuthError `no_client` where the server has no such endpoint, `registration_refused` with its words.
 */
export async function registerClient(search: ClientSearch): Promise<KnownClient> {
  const { http, metadata, store, redirectUri } = search;
  const { issuer } = metadata;
  const key = clientKey(issuer);
  if (metadata["registration_endpoint"] === undefined) {
    throw new AuthError(
      "no_client",
      `The authorization server ${issuer} knows no client of this program: it registers none (no registration_endpoint)${metadata["client_id_metadata_document_supported"] === true ? ", and there is no metadata document of the client" : " and takes no metadata documents"}; register a client there and give it as preregistered`,
    );
  }
  return store.exclusively(
    key,
    async () => {
      const before = await store.read(key);
      if (before !== undefined && !isOver(before.value["secretExpiresAt"])) {
        const known = registeredClient(before.value, metadata);
        if (known.redirectUris.includes(redirectUri)) return known;
      }
      const answer = await requestRegistration(search);
      const record = await judgeRegistration(answer, { issuer, redirectUri });
      await store.write(key, record, before?.version);
      return registeredClient(record, metadata);
    },
    http.signal,
  );
}

function requestRegistration(search: ClientSearch): Promise<Response> {
  const { http, metadata, options, redirectUri, dpopAlways } = search;
  const { clientName, applicationType, registration } = options;
  endpoint(metadata, "registration_endpoint", http.server);
  const members = {
    ...registration,
    client_name: clientName,
    redirect_uris: [redirectUri],
    // Without it, OpenID Connect takes a client for a web application, which may not come back to this machine.
    application_type: applicationType,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: registrationMethod(metadata),
    ...(dpopAlways && { dpop_bound_access_tokens: true }),
  };
  return oauth.dynamicClientRegistrationRequest(
    metadata as oauth.AuthorizationServer,
    members as unknown as Parameters<typeof oauth.dynamicClientRegistrationRequest>[1],
    {
      [oauth.customFetch]: http.at("registration", "dynamic client registration") as typeof fetch,
      [oauth.allowInsecureRequests]: true,
    },
  );
}

/** A public client where the server takes one: a secret that is on every machine is none. */
function registrationMethod(metadata: ServerMetadata): string {
  const supported = listOf(metadata, "token_endpoint_auth_methods_supported") ?? ["none"];
  const able = ["none", "client_secret_basic", "client_secret_post"];
  return able.find((method) => supported.includes(method)) ?? "none";
}

/** Judges the answer to a registration (RFC 7591, section 3.2). @returns What is to be kept. */
export async function judgeRegistration(
  answer: Response,
  { issuer, redirectUri }: { issuer: string; redirectUri: string },
): Promise<Record<string, unknown>> {
  const json = await jsonObject(answer);
  const what = `The authorization server ${issuer}`;
  if (answer.status !== 201 && answer.status !== 200) {
    const words = [json?.["error"], json?.["error_description"]].filter((word) => typeof word === "string");
    const error = typeof json?.["error"] === "string" ? json["error"] : undefined;
    const hint = /redirect_uri/.test(words.join(" ")) ? `; the redirect URI was ${redirectUri}` : "";
    throw new AuthError(
      "registration_refused",
      `${what} refused to register this client (HTTP ${answer.status}${words.map((word) => `, ${word}`).join("")})${hint}`,
      { oauthError: error },
    );
  }
  const {
    client_id: clientId,
    client_secret: clientSecret,
    client_secret_expires_at: secretExpiresAt,
    token_endpoint_auth_method: method,
    redirect_uris: uris,
  } = json ?? {};
  if (typeof clientId !== "string" || clientId === "") {
    throw new AuthError("registration_refused", `${what} registered a client and gave it no client_id`);
  }
  const isList = Array.isArray(uris) && uris.length > 0 && uris.every((uri) => typeof uri === "string");
  return {
    clientId,
    redirectUris: isList ? (uris as string[]) : [redirectUri],
    ...(typeof clientSecret === "string" && clientSecret !== "" && { clientSecret }),
    ...(typeof secretExpiresAt === "number" && { secretExpiresAt }),
    ...(typeof method === "string" && { method }),
  };
}

/** Forgets a registration that the server does not know any more. */
export async function forgetClient(store: AuthStore, issuer: string, clientId: string): Promise<void> {
  const record = await store.read(clientKey(issuer));
  if (record?.value["clientId"] === clientId) await store.write(clientKey(issuer), undefined, record.version);
}
