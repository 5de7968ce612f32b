/** What is told of signing in as it goes: every request with its answer, and every decision. Secrets are left out. */

/** The rungs of the ladder, in the order in which they are climbed. */
export type AuthRung =
  | "challenge"
  | "resource_metadata"
  | "server_metadata"
  | "registration"
  | "authorization"
  | "identity"
  | "token"
  | "refresh"
  | "revocation";

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Members of a form, of JSON, or of a query. */
  readonly members?: Readonly<Record<string, unknown>> | undefined;
}

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Where it is JSON. */
  readonly json?: unknown;
  /** The beginning, where it is something else. */
  readonly text?: string | undefined;
}

/** One step: a request and what came of it, or a decision. */
export interface AuthStep {
  readonly rung: AuthRung;
  /** In words. */
  readonly about: string;
  readonly sent?: SentRequest | undefined;
  readonly answered?: ReceivedAnswer | undefined;
  /** Why nothing came of it. */
  readonly problem?: string | undefined;
}

/** Told of each step when it is done. What it throws is dropped. */
export type OnAuthStep = (step: AuthStep) => void;

/** Members of requests, answers and redirects that let whoever holds them in. */
const SECRET_MEMBERS = new Set([
  "access_token",
  "assertion",
  "client_assertion",
  "client_secret",
  "code",
  "code_verifier",
  "device_code",
  "id_token",
  "password",
  "refresh_token",
  "registration_access_token",
  "request",
  "subject_token",
  "token",
]);
const SECRET_HEADERS = new Set(["authorization", "cookie", "dpop", "set-cookie"]);
/** Headers of answers that say something here. */
const TOLD_HEADERS = ["cache-control", "content-type", "dpop-nonce", "location", "www-authenticate"];
const MOST_TEXT = 200;

const hidden = (value: unknown): string => `[hidden, ${String(value).length} characters]`;

/** Members, without the values of secrets. */
export function withoutSecrets(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      SECRET_MEMBERS.has(name) && value !== "" ? hidden(value) : value,
    ]),
  );
}

/** What was sent that must not come back in any text: servers like to say what they were sent. */
export function secretsOf(
  headers: Readonly<Record<string, string>> = {},
  form: Iterable<readonly [string, string]> = [],
): string[] {
  const inHeaders = Object.entries(headers).flatMap(([name, value]) =>
    SECRET_HEADERS.has(name.toLowerCase()) ? [value.replace(/^\w+ /, "")] : [],
  );
  const inForm = [...form].flatMap(([name, value]) => (SECRET_MEMBERS.has(name) ? [value] : []));
  return [...inHeaders, ...inForm].filter((secret) => secret !== "");
}

export function without(secrets: readonly string[], text: string): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "[hidden]"), text);
}

export function sentHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!SECRET_HEADERS.has(name.toLowerCase())) return [name, value];
      const scheme = /^(Basic|Bearer|DPoP) /.exec(value)?.[0] ?? "";
      return [name, `${scheme}${hidden(value.slice(scheme.length))}`];
    }),
  );
}

/** @param secrets What was sent, and is not to be told. */
export function receivedAnswer(
  { status, headers }: Response,
  given: string,
  secrets: readonly string[],
): ReceivedAnswer {
  const text = without(secrets, given);
  const told = TOLD_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, without(secrets, value)] as const];
  });
  const answer = { status, headers: Object.fromEntries(told) };
  try {
    const json: unknown = JSON.parse(text);
    const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
    return { ...answer, json: isObject ? withoutSecrets(json as Record<string, unknown>) : json };
  } catch {
    return text === "" ? answer : { ...answer, text: text.slice(0, MOST_TEXT) };
  }
}

/** The query of a URL, without the values of secrets. */
export function queryOf(url: URL): Record<string, unknown> {
  return withoutSecrets(Object.fromEntries(url.searchParams));
}
