/** What the test issuer grants: codes that are good once, refresh tokens that change with every use, access tokens. */
import { createHash, randomBytes } from "node:crypto";
import { OAuthRefusal } from "./dev-issuer-clients.js";

/** Who an access token is for, and what for. */
export interface Grant {
  readonly clientId: string;
  readonly subject: string;
  /** Empty: none is claimed. */
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
}

export interface CodeBinding {
  readonly redirectUri: string;
  /** Of PKCE, by S256. */
  readonly challenge: string;
}

export interface Grants {
  code(grant: Grant, binding: CodeBinding): string;
  /** Answers a request to the token endpoint. @throws OAuthRefusal */
  answer(form: URLSearchParams): Promise<Record<string, unknown>>;
  /**
   * Ends a sign-in by its refresh token (RFC 7009). Of any other token nothing is known here: access tokens are good
   * until they end. @throws OAuthRefusal
   */
  revoke(form: URLSearchParams): void;
}

export interface GrantsOptions {
  /** Makes an access token. */
  sign(grant: Grant, lifetimeS: number): Promise<string>;
  /** For a client that has no person: what a script asks for. @throws OAuthRefusal */
  ofClient(form: URLSearchParams): { grant: Grant; lifetimeS: number };
}

/** Seconds: short enough to see a client renew one. */
export const ACCESS_TOKEN_LIFETIME_S = 600;
/** A browser takes a second or two. */
const CODE_LIFETIME_MS = 60_000;
/** Codes and refresh tokens that are kept, each: the oldest are forgotten. */
const MAX_KEPT = 10_000;

/** All that came of one sign-in: it ends as a whole. */
interface Family {
  readonly grant: Grant;
  isOver: boolean;
}
interface Code extends CodeBinding {
  readonly family: Family;
  readonly until: number;
  isUsed: boolean;
}
interface Refresh {
  readonly family: Family;
  isUsed: boolean;
}

export function createGrants({ sign, ofClient }: GrantsOptions): Grants {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Refresh>();

  async function tokens(family: Family, scopes: readonly string[]): Promise<Record<string, unknown>> {
    const refresh = keep(refreshTokens, { family, isUsed: false });
    return {
      ...(await accessToken({ ...family.grant, scopes }, ACCESS_TOKEN_LIFETIME_S)),
      refresh_token: refresh,
    };
  }

  async function accessToken(grant: Grant, lifetimeS: number): Promise<Record<string, unknown>> {
    return {
      access_token: await sign(grant, lifetimeS),
      token_type: "Bearer",
      expires_in: lifetimeS,
      scope: grant.scopes.join(" "),
    };
  }

  function byCode(form: URLSearchParams): Promise<Record<string, unknown>> {
    const code = codes.get(needed(form, "code"));
    if (code === undefined) throw new OAuthRefusal("invalid_grant", "The code is not known here");
    const { family, redirectUri, challenge, until } = code;
    if (code.isUsed) {
      // Somebody else may have it: what it has led to is over (RFC 6749, section 4.1.2).
      family.isOver = true;
      throw new OAuthRefusal("invalid_grant", "The code was used before");
    }
    if (until < Date.now()) throw new OAuthRefusal("invalid_grant", "The code has expired");
    sameClient(form, family);
    if (needed(form, "redirect_uri") !== redirectUri) {
      throw new OAuthRefusal("invalid_grant", `redirect_uri must be the one of the request: ${redirectUri}`);
    }
    const verifier = needed(form, "code_verifier");
    if (createHash("sha256").update(verifier).digest("base64url") !== challenge) {
      throw new OAuthRefusal("invalid_grant", "code_verifier does not fit to the code_challenge");
    }
    sameAudience(form, family);
    code.isUsed = true;
    return tokens(family, family.grant.scopes);
  }

  function byRefreshToken(form: URLSearchParams): Promise<Record<string, unknown>> {
    const refresh = refreshTokens.get(needed(form, "refresh_token"));
    if (refresh === undefined) throw new OAuthRefusal("invalid_grant", "The refresh token is not known here");
    const { family } = refresh;
    sameClient(form, family);
    if (refresh.isUsed) family.isOver = true;
    if (family.isOver) {
      throw new OAuthRefusal(
        "invalid_grant",
        "This sign-in is over: it was revoked, or a refresh token of it was used twice",
      );
    }
    sameAudience(form, family);
    const asked = scopesIn(form.get("scope"));
    const extra = asked.filter((scope) => !family.grant.scopes.includes(scope));
    if (extra.length > 0) throw new OAuthRefusal("invalid_scope", `Not granted: ${extra.join(" ")}`);
    refresh.isUsed = true;
    return tokens(family, asked.length > 0 ? asked : family.grant.scopes);
  }

  return {
    code(grant, binding) {
      const family = { grant, isOver: false };
      return keep(codes, { ...binding, family, until: Date.now() + CODE_LIFETIME_MS, isUsed: false });
    },
    async answer(form) {
      const grantType = needed(form, "grant_type");
      if (grantType === "authorization_code") return byCode(form);
      if (grantType === "refresh_token") return byRefreshToken(form);
      if (grantType === "client_credentials") {
        const { grant, lifetimeS } = ofClient(form);
        return accessToken(grant, lifetimeS);
      }
      throw new OAuthRefusal(
        "unsupported_grant_type",
        `grant_type ${JSON.stringify(grantType)} is not known`,
      );
    },
    revoke(form) {
      const family = refreshTokens.get(needed(form, "token"))?.family;
      if (family === undefined) return;
      sameClient(form, family);
      family.isOver = true;
    },
  };
}

export function scopesIn(text: string | null): string[] {
  return [...new Set((text ?? "").split(" ").filter((scope) => scope !== ""))];
}

/** @throws OAuthRefusal where the parameter is missing, or there twice. */
export function needed(form: URLSearchParams, name: string): string {
  const [value, ...more] = form.getAll(name);
  if (value === undefined || value === "" || more.length > 0) {
    throw new OAuthRefusal("invalid_request", `${name} must be there once`);
  }
  return value;
}

function sameClient(form: URLSearchParams, { grant }: Family): void {
  if (needed(form, "client_id") === grant.clientId) return;
  throw new OAuthRefusal("invalid_grant", "This was granted to another client");
}

/** RFC 8707, section 2.2: no more than what was granted. */
function sameAudience(form: URLSearchParams, { grant }: Family): void {
  const others = form.getAll("resource").filter((resource) => !grant.audience.includes(resource));
  if (others.length > 0) throw new OAuthRefusal("invalid_target", `Not granted for ${others.join(" ")}`);
}

function keep<T>(all: Map<string, T>, value: T): string {
  const name = randomBytes(32).toString("base64url");
  all.set(name, value);
  if (all.size > MAX_KEPT) all.delete(all.keys().next().value!);
  return name;
}
