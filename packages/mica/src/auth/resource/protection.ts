/** A protected MCP server: who calls, with what scopes, and the challenge where that is not enough (authorization). */
import { missingScopes } from "../../protocol/scopes.js";
import type { Authenticated, AuthInfo, AuthRefusal, Protection, RequestHandler } from "../../transport.js";
import { type Challenge, formatChallenge } from "../shared/challenge.js";
import { redactError, withoutToken } from "../shared/redact.js";
import { uniteScopes, withImplied } from "../shared/scopes.js";
import { readBearer } from "./bearer.js";
import { type Judged, judgeClaims } from "./claims.js";
import { jwtVerifier } from "./jwt.js";
import { describeResource } from "./metadata.js";
import { type ProtectionOptions, readOptions } from "./options.js";
import { createUpstreams } from "./upstream.js";
import { type Claims, InvalidTokenError } from "./verifier.js";

/** A server, and how HTTP bindings protect it. Other bindings serve it as it is: their credentials come from elsewhere. */
export interface ProtectedHandler extends RequestHandler {
  readonly protection: Protection;
}

/**
 * Protects a server: over HTTP, every request then needs an access token of one of the authorization servers, made for
 * this resource and not expired.
 *
 * @param options What {@link createProtection} takes, or what it made.
 * @throws TypeError naming the option that is wrong.
 * @example
 * await serveHttp(
 *   protect(server, { resource: "https://mcp.example.com/mcp", authorizationServers: ["https://auth.example.com"] }),
 *   { port: 8080, allowedHosts: ["mcp.example.com"] },
 * );
 */
export function protect(handler: RequestHandler, options: ProtectionOptions | Protection): ProtectedHandler {
  return {
    handle: (request, exchange) => handler.handle(request, exchange),
    mirroredHeaders: (request) => handler.mirroredHeaders(request),
    requiredScopes: (request) => handler.requiredScopes?.(request) ?? [],
    supportedVersions: handler.supportedVersions,
    endSubscriptions: () => handler.endSubscriptions(),
    localChanges: handler.localChanges,
    protection: "authenticate" in options ? options : createProtection(options),
  };
}

/**
 * Makes a protection, to give to several handlers or to mount its metadata with {@link metadataHandler}.
 *
 * @throws TypeError naming the option that is wrong.
 * @example createNodeHandler(server, { auth: createProtection({ resource, authorizationServers }) });
 */
export function createProtection(options: ProtectionOptions): Protection {
  const read = readOptions(options);
  const { resource, authorizationServers, audiences, hierarchy, limits } = read;
  const metadata = describeResource(read, options.metadata);
  const verify = options.verify ?? jwtVerifier();
  const context = { resource, authorizationServers, limits };
  const expected = { audiences, authorizationServers, clockToleranceMs: limits.clockToleranceMs };
  const allowExchange = options.upstream && createUpstreams(options.upstream, limits);
  const onError = options.onError ?? logToStderr;
  const baseScopes = uniteScopes(read.scopes);

  function refuse(
    status: AuthRefusal["status"],
    message: string,
    challenge: Omit<Challenge, "resourceMetadata">,
  ): AuthRefusal {
    const header = formatChallenge({ ...challenge, resourceMetadata: metadata.url });
    return { status, message, headers: { "www-authenticate": header } };
  }

  async function judge(token: string): Promise<Authenticated> {
    let claims: Claims;
    let judged: Judged;
    try {
      claims = checkAnswer(await verify(token, context));
      judged = judgeClaims(claims, expected);
    } catch (error) {
      if (error instanceof InvalidTokenError) {
        const description = redactError(error, token).message;
        const challenge = { error: "invalid_token", description, scopes: baseScopes } as const;
        return { refusal: refuse(401, description, challenge) };
      }
      onError(redactError(error, token));
      // Nothing is known against the token: a challenge would make the client throw it away.
      return { refusal: { status: 503, message: UNJUDGED, headers: { "retry-after": "5" } } };
    }
    const auth: AuthInfo = Object.freeze({
      principal: judged.principal,
      scopes: Object.freeze(withImplied(judged.scopes, hierarchy)),
      claims: Object.freeze(withoutToken(claims, token)),
      expiresAt: judged.expiresAt,
    });
    allowExchange?.(auth, token);
    return { auth };
  }

  return {
    metadata,
    authenticate({ authorization, target }) {
      const { token, problem } = readBearer(authorization, target, limits.maxTokenBytes);
      if (token !== undefined) return judge(token);
      if (problem === undefined) {
        const message = "This server needs an access token: send it as Authorization: Bearer";
        return { refusal: refuse(401, message, { scopes: baseScopes }) };
      }
      const challenge = { error: "invalid_request", description: problem, scopes: baseScopes } as const;
      return { refusal: refuse(400, problem, challenge) };
    },
    refuseScopes(auth, required) {
      const needed = required.length === 0 ? baseScopes : uniteScopes(baseScopes, required);
      const missing = missingScopes(auth.scopes, needed);
      if (missing.length === 0) return undefined;
      const description = `Missing scopes: ${missing.join(" ")}`;
      // All that the operation needs: a client that asks for exactly this can do it afterwards.
      const challenge = { error: "insufficient_scope", description, scopes: needed } as const;
      return refuse(403, description, challenge);
    },
  };
}

const UNJUDGED = "Access tokens cannot be verified at the moment";

/** @throws InvalidTokenError where there is no answer; TypeError where it is something else than claims. */
function checkAnswer(answer: unknown): Claims {
  if (answer === undefined) throw new InvalidTokenError("The access token is not valid");
  if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) return answer as Claims;
  throw new TypeError(
    `verify must return claims or undefined, got ${answer === null ? "null" : typeof answer}`,
  );
}

function logToStderr(error: Error): void {
  console.error(`[mica] access tokens cannot be verified: ${error.message}`);
}
