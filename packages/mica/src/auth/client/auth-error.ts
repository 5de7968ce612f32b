/** The failure of signing in, or of staying signed in: an `McpError` that says which rung broke. */
import { McpError } from "../../protocol/errors.js";

/** Stable, for programs. */
export type AuthFailure =
  /** No protected resource metadata, none that can be used, or none of its authorization servers can be read. */
  | "discovery_failed"
  /** The metadata is about another resource than the server that was connected to. */
  | "resource_mismatch"
  /** Metadata, or a response to an authorization request, comes from another issuer than the one expected. */
  | "issuer_mismatch"
  /** The authorization server does not say that it supports PKCE with S256. */
  | "pkce_unsupported"
  /** A URL leads where credentials must not go. */
  | "forbidden_url"
  /** There is no client id for this authorization server, and no way to get one. */
  | "no_client"
  /** The authorization server refused to register the client. */
  | "registration_refused"
  /** The response to the authorization request is not one to this request. */
  | "response_rejected"
  /** The authorization server, or the person there, said no. */
  | "access_denied"
  /** Nobody came back from the browser in time. */
  | "sign_in_timeout"
  /** A person has to sign in, and nobody can be asked here. */
  | "sign_in_needed"
  /** The token endpoint refused, or answered with something that is no token. */
  | "token_refused"
  /** The token is not bound to a key, which was required, or cannot be. */
  | "dpop_unavailable"
  /** The server refuses a token that was issued for it just now. */
  | "token_rejected"
  /** The server asks for scopes that were asked for before, or too often. */
  | "scope_refused"
  /** An endpoint cannot be reached, is too slow, or answers too much. */
  | "endpoint_failed"
  /** Credentials cannot be kept or read. */
  | "store_failed";

/** `code` is `connect_failed`, as for every request that a server does not let in; `reason` says more. */
export class AuthError extends McpError {
  readonly reason: AuthFailure;
  /** The code that an authorization server gave, `invalid_grant` for one. */
  readonly oauthError: string | undefined;

  constructor(
    reason: AuthFailure,
    message: string,
    { cause, oauthError }: { cause?: unknown; oauthError?: string | undefined } = {},
  ) {
    super("connect_failed", message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.oauthError = oauthError;
  }
}

/** What is thrown, as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
