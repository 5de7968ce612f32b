/**
 * Authorization over HTTP (authorization): who calls is found out before the body is read, whether they may is judged
 * by what the body asks for. What judges stands behind the seam; here it becomes answers.
 */
import { ErrorCode } from "../protocol/errors.js";
import { isObject, isRequestId } from "../protocol/jsonrpc.js";
import type {
  AuthInfo,
  AuthRefusal,
  PresentedCredentials,
  Protection,
  RequestHandler,
  ResourceMetadata,
} from "../transport.js";
import { type Answer, emptyAnswer, errorAnswer, preflight, refuse } from "./answer.js";

/** Who may call. */
export interface AuthorizationOptions {
  /** Default: what `protect` of `mica-mcp/auth` has put around the server, else nobody is asked who they are. */
  readonly auth?: Protection | undefined;
}

/** Who calls, or the answer to somebody who has not shown it. */
export type Caller =
  | { readonly auth: AuthInfo | undefined; readonly answer?: undefined }
  | { readonly answer: Answer; readonly auth?: undefined };

/** @throws TypeError where `auth` is something else than a protection. */
export function readProtection(
  { auth }: AuthorizationOptions,
  handler: RequestHandler,
): Protection | undefined {
  const protection = auth ?? handler.protection;
  if (protection !== undefined && typeof (protection as Partial<Protection>).authenticate !== "function") {
    throw new TypeError("auth must be what createProtection of mica-mcp/auth returns");
  }
  return protection;
}

/** @param isWhole Whether no body follows that says what is asked for. */
export async function identify(
  protection: Protection,
  credentials: PresentedCredentials,
  isWhole: boolean,
): Promise<Caller> {
  try {
    const { auth, refusal } = await protection.authenticate(credentials);
    if (refusal) return { answer: answerTo(refusal) };
    const denied = isWhole ? protection.refuseScopes(auth, []) : undefined;
    return denied ? { answer: answerTo(denied) } : { auth };
  } catch (error) {
    // Against the contract of a protection, and yet nobody may get in by that.
    console.error("[mica] the protection failed:", error);
    return { answer: refuse(500, "Internal error") };
  }
}

/**
 * The challenge to a caller who lacks scopes, for all that the body asks for at once.
 *
 * @param body A message, a batch of them, or what somebody sent in their place.
 */
export function refuseBody(
  protection: Protection,
  auth: AuthInfo,
  handler: RequestHandler,
  body: unknown,
): Answer | undefined {
  const messages = (Array.isArray(body) ? body : [body]).filter(isObject);
  const needed = messages.flatMap(({ method, params }) =>
    typeof method === "string"
      ? (handler.requiredScopes?.({ method, ...(isObject(params) && { params }) }) ?? [])
      : [],
  );
  const denied = protection.refuseScopes(auth, needed);
  if (denied === undefined) return undefined;
  const id = isObject(body) && isRequestId(body["id"]) ? body["id"] : undefined;
  return answerTo(denied, id);
}

function answerTo({ status, message, headers }: AuthRefusal, id?: string | number): Answer {
  const code = status >= 500 ? ErrorCode.InternalError : ErrorCode.InvalidRequest;
  return errorAnswer(status, id, { code, message }, headers);
}

/** Public, and for pages of every origin: it says nothing that is not needed to sign in. */
export function metadataAnswer(
  { json }: ResourceMetadata,
  method: string,
  requestedHeaders: string | undefined,
): Answer {
  const cors = { "access-control-allow-origin": "*" };
  if (method === "OPTIONS") {
    const { headers } = preflight(requestedHeaders, "GET");
    return emptyAnswer(204, { ...headers, ...cors });
  }
  if (method !== "GET" && method !== "HEAD") {
    return refuse(405, `${method} is not supported: this is the protected resource metadata, read by GET`, {
      allow: "GET, HEAD",
      ...cors,
    });
  }
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "max-age=300", ...cors },
    body: method === "HEAD" ? "" : json,
  };
}
