/** The token endpoint: one function asks, with a proof where tokens are bound to a key, another judges what came. */
import * as oauth from "oauth4webapi";
import { isScope } from "../../protocol/scopes.js";
import { AuthError, messageOf } from "./auth-error.js";
import { type AuthFetch, type AuthHttp, jsonObject } from "./auth-http.js";
import type { DpopKey, Nonces } from "./dpop.js";
import type { KnownClient } from "./known-client.js";
import { endpoint, type ServerMetadata } from "./server-metadata.js";
import { type AuthRung, secretsOf, without } from "./step.js";

/** What `oauth4webapi` needs for one request. */
export interface TokenCall {
  readonly as: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly prove: oauth.ClientAuth;
  readonly options: oauth.TokenEndpointRequestOptions;
}

export interface TokenRequest {
  readonly http: AuthHttp;
  readonly metadata: ServerMetadata;
  readonly client: Pick<KnownClient, "clientId" | "prove">;
  readonly dpop: DpopKey | undefined;
  readonly nonces: Nonces;
  readonly rung: AuthRung;
  readonly about: string;
  /** Types that are no type of an access token, and are expected all the same. */
  readonly otherTypes?: readonly string[];
  /** Sends the grant. Called once more where the server wants a nonce in the proof. */
  readonly send: (call: TokenCall) => Promise<Response>;
}

export interface Tokens {
  readonly accessToken: string;
  readonly tokenType: "Bearer" | "DPoP";
  /** Milliseconds since the epoch; undefined where the server does not say. */
  readonly expiresAt: number | undefined;
  readonly refreshToken: string | undefined;
  /** What was granted; undefined where it is what was asked for. */
  readonly scopes: readonly string[] | undefined;
  readonly idToken: string | undefined;
  /** What was issued in place of an access token, in a token exchange. */
  readonly issuedTokenType: string | undefined;
}

/** Asks for tokens. @throws AuthError */
export async function requestTokens(request: TokenRequest): Promise<Tokens> {
  const { http, metadata, client, dpop, nonces, rung, about, otherTypes = [], send } = request;
  const url = endpoint(metadata, "token_endpoint", http.server);
  const watch = secretKeeper(http.at(rung, about));
  const ask = async (): Promise<Response> => {
    const answer = await send({
      as: metadata as oauth.AuthorizationServer,
      client: { client_id: client.clientId },
      prove: client.prove,
      options: {
        [oauth.customFetch]: watch.fetch as typeof fetch,
        // Plain http has been judged already: it stays within this machine.
        [oauth.allowInsecureRequests]: true,
        headers: dpop === undefined ? {} : { dpop: await dpop.prove("POST", url, nonces.get(url)) },
      },
    });
    nonces.take(url, answer.headers.get("dpop-nonce"));
    return answer;
  };
  const had = nonces.get(url);
  let answer = await ask();
  // "the client MUST retry with the nonce" (RFC 9449, section 8), once.
  if (dpop !== undefined && nonces.get(url) !== had && (await isNonceWanted(answer))) answer = await ask();
  const { clientId } = client;
  return judgeTokens(answer, {
    metadata,
    clientId,
    isBound: dpop !== undefined,
    otherTypes,
    hide: watch.hide,
  });
}

/** RFC 6749, appendix A.12, without spaces: one token is one word of a header. */
const SENDABLE = /^[\x21-\x7e]+$/;

async function isNonceWanted(answer: Response): Promise<boolean> {
  if (answer.status !== 400 && answer.status !== 401) return false;
  return (await jsonObject(answer))?.["error"] === "use_dpop_nonce";
}

export interface TokenExpectations {
  readonly metadata: ServerMetadata;
  readonly clientId: string;
  /** Whether a proof went with the request. */
  readonly isBound: boolean;
  readonly otherTypes?: readonly string[];
  /** Takes secrets out of what a server says. */
  readonly hide?: (text: string) => string;
  /** Default: now. */
  readonly now?: number;
}

/**
 * Judges the answer of a token endpoint (RFC 6749, sections 5.1 and 5.2).
 *
 * @throws AuthError `token_refused` with the code of the server, or `dpop_unavailable` where it is not bound.
 */
export async function judgeTokens(answer: Response, expected: TokenExpectations): Promise<Tokens> {
  const { metadata, clientId, isBound, otherTypes = [], hide = (text) => text, now = Date.now() } = expected;
  const what = `The token endpoint of ${metadata.issuer}`;
  const json = await jsonObject(answer);
  if (answer.status !== 200) {
    const error = text(json?.["error"]);
    const said = [error, text(json?.["error_description"])].filter((part) => part !== undefined).join(": ");
    const isRedirect = answer.status >= 300 && answer.status < 400;
    const verb = isRedirect ? "answered with a redirect, which is not followed" : "refused";
    const message = `${what} ${verb} (HTTP ${answer.status}${said && `, ${said}`})`;
    throw new AuthError("token_refused", hide(message), { oauthError: error });
  }
  // Nothing is decided by an ID token here, so that none can be wrong.
  const { id_token: idToken, ...rest } = json ?? {};
  let read: oauth.TokenEndpointResponse;
  try {
    read = await oauth.processGenericTokenEndpointResponse(
      metadata as oauth.AuthorizationServer,
      { client_id: clientId },
      new Response(JSON.stringify(json === undefined ? null : rest), {
        headers: { "content-type": "application/json" },
      }),
      { recognizedTokenTypes: Object.fromEntries(otherTypes.map((type) => [type.toLowerCase(), () => {}])) },
    );
  } catch (error) {
    const got = json === undefined ? "something that is not a JSON object" : messageOf(error);
    throw new AuthError("token_refused", hide(`${what} answered with no token: ${got}`), {
      cause: undefined,
    });
  }
  const isDpop = read.token_type === "dpop";
  const isOther = otherTypes.some((type) => type.toLowerCase() === read.token_type);
  // Where other types are expected, it goes into a form.
  if (otherTypes.length === 0 && !SENDABLE.test(read.access_token)) {
    throw new AuthError("token_refused", `${what} answered with a token that no header can hold`);
  }
  if (isBound !== isDpop && !isOther) {
    throw new AuthError(
      "dpop_unavailable",
      `${what} answered with a token of type ${isDpop ? "DPoP" : "Bearer"}, expected ${isBound ? "DPoP: it is not bound to the key" : "Bearer: no key was shown"}`,
    );
  }
  return {
    accessToken: read.access_token,
    tokenType: isDpop ? "DPoP" : "Bearer",
    expiresAt: read.expires_in === undefined ? undefined : now + read.expires_in * 1000,
    refreshToken: read.refresh_token,
    scopes: read.scope === undefined ? undefined : read.scope.split(" ").filter(isScope),
    idToken: text(idToken),
    issuedTokenType: text(read["issued_token_type"]),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Remembers what was sent that must not come back in a message. */
function secretKeeper(fetch: AuthFetch): { fetch: AuthFetch; hide: (text: string) => string } {
  const secrets: string[] = [];
  return {
    fetch(url, init) {
      secrets.push(...secretsOf(init?.headers, init?.body instanceof URLSearchParams ? init.body : []));
      return fetch(url, init);
    },
    hide: (text) => without(secrets, text),
  };
}
