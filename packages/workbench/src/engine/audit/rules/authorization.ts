/** The ladder of authorization on a protected URL: no token, garbage, expired, for somebody else, without scopes (basic/authorization). */
import { isObject } from "../../json.js";
import type { Audited } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { sendHttp } from "../wire/http.js";
import { type RawExchange, seen } from "../wire/raw.js";
import { ordinary } from "./ordinary.js";

const SECTION = "basic/authorization";
const DISCOVERY = "basic/authorization/authorization-server-discovery";
type Headers = Readonly<Record<string, string | undefined>>;

export const AUTHORIZATION: readonly Rule[] = [
  {
    id: "auth-challenge",
    severity: "error",
    section: `${DISCOVERY}, Protected Resource Metadata Discovery Requirements`,
    title: "401 says where the metadata of the resource is",
    applies: "http",
    unsigned: true,
    async run(audited) {
      const refusal = await withoutToken(audited);
      const challenge = refusal.http?.headers["www-authenticate"] ?? "";
      const evidence = `HTTP 401, www-authenticate: ${challenge || "(absent)"}`;
      const found: Found[] = [];
      if (!/^(.*,\s*)?Bearer\b/i.test(challenge))
        found.push({
          message: "401 has no WWW-Authenticate: Bearer",
          evidence,
          fix: 'Answer 401 with WWW-Authenticate: Bearer resource_metadata="https://.../.well-known/oauth-protected-resource".',
        });
      else if (resourceMetadataIn(challenge) === undefined && (await metadata(audited)) === undefined)
        found.push({
          message: "Neither the challenge nor a well-known URI leads to the metadata of the resource",
          evidence: `${evidence}; nothing at ${wellKnown(audited).join(" and ")}`,
          fix: "Name the document in resource_metadata, or serve it at the well-known URI.",
        });
      return found;
    },
  },
  {
    id: "auth-metadata",
    severity: "error",
    section: `${DISCOVERY}, Authorization Server Location; RFC 9728, 3.3`,
    title: "The metadata of the resource names the resource and an authorization server",
    applies: "http",
    unsigned: true,
    async run(audited) {
      await withoutToken(audited);
      const found = await metadata(audited);
      if (found === undefined) throw new Inapplicable("there is no metadata to look at");
      const { url, document, body } = found;
      const problems: string[] = [];
      if (!isObject(document)) problems.push("it is no JSON object");
      else {
        const { resource, authorization_servers: servers } = document;
        if (typeof resource !== "string") problems.push("it names no resource");
        else if (!isSameResource(resource, urlOf(audited)))
          problems.push("its resource is another than the server");
        if (!Array.isArray(servers) || servers.length === 0)
          problems.push("it names no authorization server");
        else if (!servers.every((one) => typeof one === "string" && isIssuer(one)))
          problems.push("an authorization server is no https URL");
      }
      return problems.map((problem) => ({
        message: `The metadata of the resource: ${problem}`,
        evidence: `${url}: ${body.slice(0, 300)}`,
        fix: 'Serve { "resource": the URL of the server, "authorization_servers": [its issuer] }.',
      }));
    },
  },
  refusalRule(
    "auth-garbage-token",
    "A token that nobody issued is refused with 401",
    "A token that nobody issued",
    async () => ({
      Authorization: "Bearer mica-audit-garbage",
    }),
  ),
  {
    id: "auth-query-token",
    severity: "error",
    section: `${SECTION}, Token Requirements`,
    title: "A token in the URL is none",
    applies: "http",
    async run(audited) {
      await withoutToken(audited);
      const token = given(audited, "valid");
      const url = new URL(urlOf(audited));
      url.searchParams.set("access_token", token);
      const exchange = await audited.raw(ordinary(audited), { Authorization: undefined }, { url: url.href });
      // 401, or 400 with invalid_request (RFC 6750, 3.1).
      if ((exchange.http?.status ?? 0) >= 400) return [];
      return [
        {
          message: "A token in the query of the URL is taken",
          evidence: `POST ...?access_token=(the valid token), no Authorization\n${seen(exchange)}`,
          fix: "Take tokens from the Authorization header only: URLs end up in logs.",
        },
      ];
    },
  },
  refusalRule(
    "auth-expired-token",
    "A token that has expired is refused with 401",
    "A token that has expired",
    (audited) => bearer(audited, "expired"),
  ),
  refusalRule(
    "auth-audience",
    "A token for another resource is refused with 401",
    "A token for another resource",
    (audited) => bearer(audited, "wrong-audience"),
  ),
  {
    id: "auth-scope",
    severity: "warning",
    section: `${SECTION}, Scope Challenge Handling`,
    title: "A token without the scopes is refused with 403, and told which ones are needed",
    applies: "http",
    async run(audited) {
      await withoutToken(audited);
      const headers = await bearer(audited, "no-scope");
      const exchanges = await asks(audited, headers);
      const refused = exchanges.find(({ http }) => http?.status === 403);
      const challenge = refused?.http?.headers["www-authenticate"] ?? "";
      if (refused === undefined)
        return [
          {
            message: "A token without scopes is not refused with 403 anywhere",
            evidence: exchanges.map((one) => seen(one, 150)).join("\n"),
            fix: 'Answer 403 with WWW-Authenticate: Bearer error="insufficient_scope", scope="...".',
          },
        ];
      if (/\berror="?insufficient_scope\b/.test(challenge) && /\bscope="/.test(challenge)) return [];
      return [
        {
          message: "403 for missing scopes does not say insufficient_scope and which scopes are needed",
          evidence: `HTTP 403, www-authenticate: ${challenge || "(absent)"}`,
          fix: 'Answer with WWW-Authenticate: Bearer error="insufficient_scope", scope="the scopes that are needed".',
        },
      ];
    },
  },
];

function refusalRule(
  id: string,
  title: string,
  what: string,
  headersOf: (audited: Audited) => Promise<Headers>,
): Rule {
  return {
    id,
    severity: "error",
    section: `${SECTION}, Token Handling`,
    title,
    applies: "http",
    ...(id === "auth-garbage-token" && { unsigned: true as const }),
    async run(audited) {
      await withoutToken(audited);
      const headers = await headersOf(audited);
      const exchange = await audited.raw(ordinary(audited), headers);
      if (exchange.http?.status === 401) return [];
      return [
        {
          message: `${what} is not refused with 401`,
          evidence: seen(exchange),
          fix: "Check signature, issuer, audience and expiry of every token, and answer 401 where one of them is wrong.",
        },
      ];
    },
  };
}

/** The refusal of a request without a token. @throws Inapplicable where it is none: the server is not protected. */
function withoutToken(audited: Audited): Promise<RawExchange> {
  return audited.once("without a token", async () => {
    const request = ordinary(audited);
    const exchange = await audited.raw(request, { Authorization: undefined });
    if (exchange.http?.status !== 401) throw new Inapplicable("it asks for no token");
    return exchange;
  });
}

function given({ tokens }: Audited, name: string): string {
  const token = tokens.get(name);
  if (token === undefined) throw new Inapplicable(`no --token ${name}=TOKEN was given`);
  return token;
}

async function bearer(audited: Audited, name: string): Promise<Headers> {
  return { Authorization: `Bearer ${given(audited, name)}` };
}

/** What may be asked without doing anything, with other credentials. */
async function asks(audited: Audited, headers: Headers): Promise<RawExchange[]> {
  const { catalogue } = audited;
  const requests = [ordinary(audited)];
  for (const listing of Object.values(catalogue)) if (listing) requests.push(audited.message(listing.method));
  const uri = catalogue.resources?.entries[0]?.["uri"];
  if (typeof uri === "string") requests.push(audited.message("resources/read", { uri }));
  for (const { name } of catalogue.tools?.entries ?? []) {
    if (typeof name === "string" && audited.mayCall(name))
      requests.push(audited.message("tools/call", { name, arguments: {} }));
  }
  const exchanges: RawExchange[] = [];
  for (const request of requests) exchanges.push(await audited.raw(request, headers));
  return exchanges;
}

function urlOf({ target }: Audited): string {
  if (target.kind !== "url") throw new Inapplicable("a command has no URL");
  return target.url;
}

function resourceMetadataIn(challenge: string): string | undefined {
  return /\bresource_metadata\s*=\s*"([^"]*)"/i.exec(challenge)?.[1];
}

/** In the order in which clients ask for them. */
function wellKnown(audited: Audited): string[] {
  const { origin, pathname } = new URL(urlOf(audited));
  const root = `${origin}/.well-known/oauth-protected-resource`;
  return pathname === "/" ? [root] : [`${root}${pathname}`, root];
}

interface Document {
  readonly url: string;
  readonly body: string;
  readonly document: unknown;
}

/** Where the challenge says, or at a well-known URI. Only of the server's own origin: nothing else is asked here. */
function metadata(audited: Audited): Promise<Document | undefined> {
  return audited.once("resource metadata", async () => {
    const { http } = await withoutToken(audited);
    const named = resourceMetadataIn(http?.headers["www-authenticate"] ?? "");
    for (const url of named === undefined ? wellKnown(audited) : [named]) {
      if (!URL.canParse(url) || new URL(url).origin !== new URL(urlOf(audited)).origin) continue;
      const { status, body } = await sendHttp({
        url,
        method: "GET",
        headers: { Accept: "application/json" },
        body: undefined,
        timeoutMs: audited.answerMs,
        signal: audited.signal,
        isEnough: () => false,
      });
      if (status !== 200) continue;
      try {
        return { url, body, document: JSON.parse(body) as unknown };
      } catch {
        return { url, body, document: undefined };
      }
    }
    return undefined;
  });
}

/** The same URL, or one that it lies under (basic/authorization, Canonical Server URI). */
function isSameResource(resource: string, url: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [one, other] = [new URL(resource), new URL(url)];
  const path = one.pathname.replace(/\/$/, "");
  return one.origin === other.origin && (other.pathname === path || other.pathname.startsWith(`${path}/`));
}

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
