/** What `oauth` can be told. */
import { checkScopes } from "../../protocol/scopes.js";
import {
  type ClientOptions,
  checkDocument,
  type MetadataDocumentClient,
  type PreregisteredClient,
  type RegistrationMetadata,
  readPreregistered,
} from "./client-options.js";
import type { DpopMode } from "./dpop.js";
import { readDpopMode } from "./dpop-choice.js";
import { type AuthClientLimits, readAuthLimits } from "./limits.js";
import type { Redirect } from "./redirect.js";
import type { OnAuthStep } from "./step.js";
import type { AuthStore } from "./store.js";

export interface OAuthOptions {
  /** What a person reads on the page that asks for consent. */
  readonly clientName: string;
  /** How the person gets to that page and back. Without it nobody is asked: what is kept is used, and refreshed. */
  readonly redirect?: Redirect | undefined;
  /** Where credentials are kept. Default: in memory. */
  readonly store?: AuthStore | undefined;
  /** Client ids that were got beforehand, each for its issuer. They come first. */
  readonly preregistered?: PreregisteredClient | readonly PreregisteredClient[] | undefined;
  /** An https URL with a document that describes the client: its id at servers that take such documents. */
  readonly clientMetadata?: MetadataDocumentClient | undefined;
  /** What else to say of the client where it has to register. */
  readonly registration?: RegistrationMetadata | undefined;
  /** Scopes to ask for in any case. Default: what the server asks for. */
  readonly scopes?: readonly string[] | undefined;
  /** Whether to ask for access while the person is away (`offline_access`), where it is offered. Default true. */
  readonly offlineAccess?: boolean | undefined;
  /** Whether tokens are bound to a key. Default `auto`: where the server demands it. */
  readonly dpop?: DpopMode | undefined;
  /**
   * Whether a server of revision 2025-03-26 without any metadata is taken to have `/authorize`, `/token` and
   * `/register` at its origin. Then nothing says that it supports PKCE. Default false.
   */
  readonly assumeEndpoints?: boolean | undefined;
  /** Overrides of {@link DEFAULT_AUTH_CLIENT_LIMITS}. */
  readonly limits?: Partial<AuthClientLimits> | undefined;
  /** Told of every step, with secrets left out. */
  readonly onStep?: OnAuthStep | undefined;
}

/** The options, checked, with their defaults. */
export interface PersonOptions {
  readonly client: ClientOptions;
  readonly redirect: Redirect | undefined;
  readonly wanted: readonly string[] | undefined;
  readonly offlineAccess: boolean;
  readonly dpopMode: DpopMode;
  readonly assumeEndpoints: boolean;
  readonly limits: AuthClientLimits;
}

/** @throws TypeError naming the option that is wrong. */
export function readOAuthOptions(options: OAuthOptions): PersonOptions {
  const { clientName, redirect, clientMetadata, offlineAccess = true, assumeEndpoints = false } = options;
  if (typeof clientName !== "string" || clientName === "") {
    throw new TypeError(`clientName: expected a non-empty string, got ${JSON.stringify(clientName)}`);
  }
  if (redirect !== undefined && typeof redirect?.listen !== "function") {
    throw new TypeError("redirect: expected what loopback() returns, or a Redirect of your own");
  }
  checkDocument(clientMetadata);
  return {
    client: {
      clientName,
      applicationType: redirect?.applicationType ?? "native",
      preregistered: readPreregistered(options.preregistered),
      document: clientMetadata,
      registration: options.registration,
    },
    redirect,
    wanted: options.scopes && checkScopes(options.scopes, "scopes:"),
    offlineAccess,
    dpopMode: readDpopMode(options.dpop),
    assumeEndpoints,
    limits: readAuthLimits(options.limits),
  };
}
