/**
 * Calling an upstream API on behalf of the caller: with a token of its own, which the authorization server gives in
 * exchange for the caller's (RFC 8693). "The MCP server MUST NOT pass through the token it received from the MCP
 * client" (security-considerations, Access Token Privilege Restriction).
 */

import { checkScopes } from "../../protocol/scopes.js";
import type { AuthInfo } from "../../transport.js";
import {
  type ClientAuthentication,
  checkClientAuthentication,
  proveClient,
} from "../shared/client-authentication.js";
import { fetchJson, type JsonReply } from "../shared/fetch-json.js";
import { redactError } from "../shared/redact.js";
import { readSecureUrl } from "../shared/secure-url.js";
import { type Found, keepForAWhile } from "./kept.js";
import type { AuthLimits } from "./limits.js";

/** An API that handlers call with {@link upstreamToken}. `resource` or `audience` says for whom the token is. */
export interface UpstreamOptions {
  readonly tokenEndpoint: string;
  /** Who this server is to that authorization server. */
  readonly client: ClientAuthentication;
  /** The API, as a URI (RFC 8707). */
  readonly resource?: string;
  /** The API, under the name that the authorization server knows. */
  readonly audience?: string;
  /** Default: what the authorization server finds right. */
  readonly scopes?: readonly string[];
}

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
/** Milliseconds before its expiry at which a token is no longer handed out: it still has a way to go. */
const SPARE_MS = 10_000;

type Exchange = (name: string) => Promise<string>;

/** By caller, and out of the reach of handlers: the subject token stands in these functions alone. */
const exchanges = new WeakMap<AuthInfo, Exchange>();

/**
 * A token for an upstream API that {@link ProtectionOptions.upstream} names, to call it for the caller of this
 * request. Kept until shortly before it expires, for the very token that it was exchanged for.
 *
 * @throws TypeError where nobody is authenticated or there is no such upstream; Error where the exchange fails.
 * @example const headers = { authorization: `Bearer ${await upstreamToken(ctx.auth, "billing")}` };
 */
export async function upstreamToken(auth: AuthInfo | undefined, name: string): Promise<string> {
  if (auth === undefined) {
    throw new TypeError(
      `upstreamToken: nobody is authenticated here, so there is no token to exchange for ${JSON.stringify(name)}`,
    );
  }
  const exchange = exchanges.get(auth);
  if (exchange === undefined) throw new TypeError(`upstreamToken: the protection names no upstream`);
  return exchange(name);
}

/** Lets handlers exchange the token of a caller. */
export type AllowExchange = (auth: AuthInfo, token: string) => void;

/** @throws TypeError naming the upstream and the option that is wrong. */
export function createUpstreams(
  options: Readonly<Record<string, UpstreamOptions>>,
  limits: AuthLimits,
): AllowExchange {
  const upstreams = new Map<string, Upstream>();
  for (const [name, given] of Object.entries(options)) upstreams.set(name, readUpstream(name, given));
  const kept = keepForAWhile<string>();

  return (auth, token) => {
    exchanges.set(auth, async (name) => {
      const upstream = upstreams.get(name);
      if (upstream === undefined) {
        const known = [...upstreams.keys()].join(", ") || "none";
        throw new TypeError(`upstreamToken: no upstream ${JSON.stringify(name)}; there is ${known}`);
      }
      // Not by principal: another token of the same caller may be worth less.
      const found = await kept.get(`${name}\n${token}`, limits.maxCached, () =>
        exchangeToken(upstream, token, expiryOf(auth), limits),
      );
      return found!;
    });
  };
}

interface Upstream {
  readonly name: string;
  readonly endpoint: URL;
  readonly client: ClientAuthentication;
  readonly form: Readonly<Record<string, string>>;
}

function readUpstream(name: string, given: UpstreamOptions): Upstream {
  const what = `upstream.${name}`;
  const { resource, audience, scopes } = given;
  if (resource === undefined && audience === undefined) {
    throw new TypeError(`${what} must have a resource or an audience: a token for everybody is no use`);
  }
  return {
    name,
    endpoint: readSecureUrl(given.tokenEndpoint, `${what}.tokenEndpoint`),
    client: checkClientAuthentication(given.client, `${what}.client`),
    form: {
      grant_type: GRANT_TYPE,
      subject_token_type: ACCESS_TOKEN,
      requested_token_type: ACCESS_TOKEN,
      ...(resource !== undefined && { resource }),
      ...(audience !== undefined && { audience }),
      ...(scopes !== undefined && { scope: checkScopes(scopes, `${what}.scopes`).join(" ") }),
    },
  };
}

async function exchangeToken(
  { name, endpoint, client, form }: Upstream,
  token: string,
  subjectExpiry: number,
  limits: AuthLimits,
): Promise<Found<string>> {
  try {
    const proof = await proveClient(client, endpoint);
    const reply = await fetchJson(endpoint, {
      method: "POST",
      headers: { ...proof.headers, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...form, ...proof.form, subject_token: token }).toString(),
      timeoutMs: limits.fetchTimeoutMs,
      maxBytes: limits.maxDocumentBytes,
    });
    const { accessToken, expiresAt } = readExchanged(reply, token);
    return { value: accessToken, until: Math.min(expiresAt, subjectExpiry) - SPARE_MS };
  } catch (error) {
    const { message } = redactError(error, token);
    throw new Error(`No token for the upstream ${JSON.stringify(name)}: ${message}`);
  }
}

/** Judges the answer to an exchange (RFC 8693, section 2.2). @throws Error saying what is wrong with it */
function readExchanged(
  { status, json }: JsonReply,
  subject: string,
): { accessToken: string; expiresAt: number } {
  const answer = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  if (status !== 200) {
    const said = [answer["error"], answer["error_description"]].filter((part) => typeof part === "string");
    throw new Error(`the token endpoint answered ${[status, ...said].join(", ")}`);
  }
  const { access_token: accessToken, token_type: type, expires_in: expiresIn } = answer;
  if (typeof accessToken !== "string" || accessToken === "") {
    throw new Error("the token endpoint answered without an access_token");
  }
  if (typeof type !== "string" || type.toLowerCase() !== "bearer") {
    throw new Error(
      `the token endpoint answered with the token_type ${JSON.stringify(type)}, expected Bearer`,
    );
  }
  const issued = answer["issued_token_type"];
  if (issued !== undefined && issued !== ACCESS_TOKEN) {
    throw new Error(
      `the token endpoint answered with the issued_token_type ${JSON.stringify(issued)}, expected ${ACCESS_TOKEN}`,
    );
  }
  if (accessToken === subject) throw new Error("the token endpoint answered with the caller's own token");
  // Of unknown life, it is used this once.
  const lifetime = typeof expiresIn === "number" && Number.isFinite(expiresIn) ? expiresIn * 1000 : 0;
  return { accessToken, expiresAt: Date.now() + lifetime };
}

/** In milliseconds. Claims that were judged have an expiry. */
function expiryOf({ claims }: AuthInfo): number {
  return Number(claims["exp"]) * 1000;
}
