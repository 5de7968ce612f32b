/** Who the client is, as its author says: ids that were got beforehand, a document of its own, what to register with. */
import {
  type ClientAuthentication,
  checkClientAuthentication,
  type KeyAuthentication,
  type PublicClient,
  type SecretAuthentication,
} from "../shared/client-authentication.js";

/**
 * A client id that was got beforehand. It is good at one authorization server: one with a secret says at which, so that
 * the secret goes nowhere else. `any` gives it to whichever server is named, for servers that are your own only.
 */
export type PreregisteredClient =
  | (SecretAuthentication & { readonly issuer: string | "any" })
  | ((KeyAuthentication | PublicClient) & { readonly issuer?: string | undefined });

/** A client that is described by a document at an https URL, which is its id everywhere. */
export type MetadataDocumentClient =
  | string
  | ({ readonly url: string } & Omit<KeyAuthentication, "clientId">);

/** Members of RFC 7591 to register with, besides those that follow from the rest. */
export interface RegistrationMetadata {
  readonly client_uri?: string;
  readonly logo_uri?: string;
  readonly contacts?: readonly string[];
  readonly tos_uri?: string;
  readonly policy_uri?: string;
  readonly software_id?: string;
  readonly software_version?: string;
}

export interface ClientOptions {
  readonly clientName: string;
  readonly applicationType: "native" | "web";
  readonly preregistered: readonly PreregisteredClient[];
  readonly document: MetadataDocumentClient | undefined;
  readonly registration: RegistrationMetadata | undefined;
}

/** The preregistered client for an issuer, where there is one. */
export function preregisteredFor(
  clients: readonly PreregisteredClient[],
  issuer: string,
): PreregisteredClient | undefined {
  return (
    clients.find((client) => client.issuer === issuer) ??
    clients.find((client) => client.issuer === undefined || client.issuer === "any")
  );
}

export function documentClient(document: MetadataDocumentClient): ClientAuthentication {
  if (typeof document === "string") return { clientId: document };
  const { url, ...key } = document;
  return { clientId: url, ...key };
}

/** @throws TypeError naming the option. */
export function readPreregistered(given: unknown): readonly PreregisteredClient[] {
  if (given === undefined) return [];
  const list = Array.isArray(given) ? (given as unknown[]) : [given];
  return list.map((client, at) => {
    const what = Array.isArray(given) ? `preregistered[${at}]` : "preregistered";
    const checked = checkClientAuthentication(client, what) as PreregisteredClient;
    if ("clientSecret" in checked) requireIssuer(checked.issuer, what);
    return checked;
  });
}

/** @throws TypeError */
export function requireIssuer(issuer: unknown, what: string): void {
  if (issuer === "any" || (typeof issuer === "string" && URL.canParse(issuer))) return;
  throw new TypeError(
    `${what}.issuer must be the issuer that gave the secret, a URL, or "any", got ${JSON.stringify(issuer) ?? "nothing"}`,
  );
}

/** @throws TypeError naming the option. */
export function checkDocument(document: MetadataDocumentClient | undefined): void {
  if (document === undefined) return;
  const url = typeof document === "string" ? document : document.url;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // "MUST use the https scheme and contain a path component" (client-registration, Implementation Requirements).
  if (parsed?.protocol === "https:" && parsed.pathname !== "/" && parsed.hash === "") {
    if (typeof document !== "string")
      checkClientAuthentication({ ...document, clientId: url }, "clientMetadata");
    return;
  }
  throw new TypeError(`clientMetadata: expected an https URL with a path, got ${JSON.stringify(url)}`);
}
