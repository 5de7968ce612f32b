/** Reading `WWW-Authenticate` (RFC 9110, section 11.6.1): challenges of several schemes, in one header or many. */
import { isScope } from "../../protocol/scopes.js";

/** A challenge of a scheme that this client speaks (RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1). */
export interface TokenChallenge {
  /** `dpop` where nothing but DPoP is offered. */
  readonly scheme: "bearer" | "dpop";
  readonly error: string | undefined;
  readonly description: string | undefined;
  /** Those that `scope` names; empty where it is not there. */
  readonly scopes: readonly string[];
  readonly resourceMetadata: string | undefined;
}

export interface Challenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const BETWEEN = /[\t ,]*/y;
const SPACE = /[\t ]*/y;
const TOKEN = /[!#$%&'*+\-.^_`|~\w]+/y;
/** What Basic and Negotiate may have in place of parameters. */
const TOKEN68 = /[\w\-.~+/]+=*(?=[\t ]*(?:,|$))/y;
const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"/y;
/** More than a token: not a few servers leave the quotes of a URL away. */
const UNQUOTED = /[^\t ,"]+/y;

/** All challenges that can be read; what cannot be read ends the list. Never throws. */
export function parseChallenges(header: string): Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  for (;;) {
    take(BETWEEN);
    const name = take(TOKEN)?.[0].toLowerCase();
    if (name === undefined) return found;
    const space = take(SPACE)?.[0];
    // A name with `=` after it is a parameter of the challenge before it, and without it a scheme.
    if (header[at] !== "=") {
      found.push({ scheme: name, parameters: new Map() });
      if (space) take(TOKEN68);
      continue;
    }
    at += 1;
    take(SPACE);
    const value = take(QUOTED)?.[1]?.replace(/\\([\s\S])/g, "$1") ?? take(UNQUOTED)?.[0];
    const parameters = found.at(-1)?.parameters;
    if (value === undefined || parameters === undefined) return found;
    // "each parameter name MUST only occur once per challenge": of several, the first counts.
    if (!parameters.has(name)) parameters.set(name, value);
  }
}

/**
 * The challenge to answer: the one that says what is wrong, else the first of Bearer and DPoP. Undefined where the
 * header is not there, null where it offers other schemes only.
 */
export function tokenChallenge(header: string | undefined): TokenChallenge | null | undefined {
  if (header === undefined) return undefined;
  const ours = parseChallenges(header).filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const told = ours.find(({ parameters }) => parameters.has("error")) ?? ours[0];
  if (told === undefined) return null;
  const read = (name: string): string | undefined =>
    told.parameters.get(name) ?? ours.map(({ parameters }) => parameters.get(name)).find(Boolean);
  return {
    scheme: ours.every(({ scheme }) => scheme === "dpop") ? "dpop" : "bearer",
    error: told.parameters.get("error"),
    description: told.parameters.get("error_description"),
    scopes: (read("scope") ?? "").split(" ").filter(isScope),
    resourceMetadata: read("resource_metadata"),
  };
}
