/** Headers that mirror the body: there, equal to it, decoded, by any case (transports/streamable-http, Request Metadata). */
import type { Audited, Members, Request } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { encodedValue } from "../wire/envelope.js";
import { errorOf, isRefused, type RawExchange, resultOf, sentAndSeen } from "../wire/raw.js";
import { ordinary } from "./ordinary.js";

const VALIDATION = "transports/streamable-http, Server Validation";
type Headers = Readonly<Record<string, string | undefined>>;

export const HTTP_HEADERS: readonly Rule[] = [
  {
    id: "http-version-header",
    severity: "error",
    section: "transports/streamable-http, Protocol Version Header",
    title: "MCP-Protocol-Version is required, and must be that of the body",
    applies: "http",
    era: "modern",
    async run(audited) {
      const found: Found[] = [];
      // Where earlier revisions are spoken, a request without it may be taken for one of theirs.
      if (!audited.legacy)
        found.push(
          ...(await mismatch(
            audited,
            "MCP-Protocol-Version",
            undefined,
            "A request without MCP-Protocol-Version",
          )),
        );
      found.push(
        ...(await mismatch(
          audited,
          "MCP-Protocol-Version",
          "2025-06-18",
          "An MCP-Protocol-Version other than that of the body",
        )),
      );
      return found;
    },
  },
  {
    id: "http-method-header",
    severity: "error",
    section: VALIDATION,
    title: "Mcp-Method is required, and must be the method of the body",
    applies: "http",
    era: "modern",
    async run(audited) {
      return [
        ...(await mismatch(audited, "Mcp-Method", undefined, "A request without Mcp-Method")),
        ...(await mismatch(
          audited,
          "Mcp-Method",
          "completion/complete",
          "An Mcp-Method other than the method of the body",
        )),
        // "Header values (such as method names) are case-sensitive".
        ...(await mismatch(
          audited,
          "Mcp-Method",
          ordinary(audited).method.toUpperCase(),
          "An Mcp-Method in another case than the method of the body",
        )),
      ];
    },
  },
  {
    id: "http-name-header",
    severity: "error",
    section: VALIDATION,
    title: "Mcp-Name is required, and must be the name of the body",
    applies: "http",
    era: "modern",
    async run(audited) {
      const named = namedRequest(audited);
      const wrong = encodedValue("something-else");
      return [
        ...(await mismatch(audited, "Mcp-Name", undefined, `A ${named.method} without Mcp-Name`, named)),
        ...(await mismatch(
          audited,
          "Mcp-Name",
          "something-else",
          "An Mcp-Name other than the name of the body",
          named,
        )),
        ...(await mismatch(
          audited,
          "Mcp-Name",
          wrong,
          "An Mcp-Name in Base64 other than the name of the body",
          named,
        )),
      ];
    },
  },
  {
    id: "http-name-base64",
    severity: "error",
    section: "transports/streamable-http, Value Encoding",
    title: "Mcp-Name is decoded before it is compared",
    applies: "http",
    era: "modern",
    async run(audited) {
      const { request, name } = namedRequest(audited);
      return served(
        audited,
        request,
        { "Mcp-Name": encodedValue(name) },
        "An Mcp-Name in Base64 is refused",
        "Decode =?base64?...?= before the comparison.",
      );
    },
  },
  {
    id: "http-header-case",
    severity: "error",
    section: "transports/streamable-http, Case Sensitivity",
    title: "Names of headers have no case",
    applies: "http",
    era: "modern",
    async run(audited) {
      const request = ordinary(audited);
      const headers = audited.headersOf(request);
      const cased = (change: (name: string) => string): Headers =>
        Object.fromEntries(
          Object.entries(headers).flatMap(([name, value]) => [
            [name, undefined],
            [change(name), value],
          ]),
        );
      return [
        ...(await served(
          audited,
          request,
          cased((name) => name.toLowerCase()),
          "Headers with names in lower case are refused",
          "Compare names of headers without their case.",
        )),
        ...(await served(
          audited,
          request,
          cased((name) => name.toUpperCase()),
          "Headers with names in upper case are refused",
          "Compare names of headers without their case.",
        )),
      ];
    },
  },
  {
    id: "http-accept",
    severity: "warning",
    section: "RFC 9110, 12.5.1; transports/streamable-http, Sending Messages",
    title: "An Accept that lists both types is taken, however it is written",
    applies: "http",
    async run(audited) {
      const request = ordinary(audited);
      const found: Found[] = [];
      for (const accept of [
        "text/event-stream;q=0.5, application/json",
        "text/event-stream,application/json",
        "*/*",
      ]) {
        // Clients must list both; to take anything includes both all the same (RFC 9110).
        const severity = accept === "*/*" ? "note" : "warning";
        const problems = await served(
          audited,
          request,
          { Accept: accept },
          `Accept: ${accept} is refused`,
          "Read Accept as RFC 9110 has it: a list with parameters, in any order, with wildcards.",
        );
        found.push(...problems.map((problem) => ({ ...problem, severity }) as const));
      }
      return found;
    },
  },
];

/** A request with one header changed or taken away must be refused, in the way that is prescribed. */
export async function mismatch(
  audited: Audited,
  header: string,
  value: string | undefined,
  what: string,
  named?: { request: Request },
): Promise<Found[]> {
  const request = named ? audited.message(named.request.method, named.request.params) : ordinary(audited);
  const exchange = await audited.raw(request, { [header]: value });
  if (errorOf(exchange)?.code === -32020 && exchange.http?.status === 400) return [];
  const evidence = `${header}: ${value ?? "(absent)"}\n${sentAndSeen(exchange)}`;
  const fix =
    "Compare the headers with the body, and answer HTTP status 400 with error -32020 where they differ.";
  const message = isRefused(exchange)
    ? `${what} is not refused with HTTP status 400 and error -32020`
    : `${what} is served`;
  return [{ message, evidence, fix }];
}

/** A proper request, written in another way, must be served. */
async function served(
  audited: Audited,
  proper: Request,
  headers: Headers,
  message: string,
  fix: string,
): Promise<Found[]> {
  const request = audited.message(proper.method, proper.params);
  const exchange: RawExchange = await audited.raw(request, headers);
  const refusedForIt = errorOf(exchange)?.code === -32020 || (exchange.http?.status ?? 200) >= 400;
  if (resultOf(exchange) !== undefined || !refusedForIt) return [];
  // What is refused in any case says nothing about the headers.
  if (isRefused(await audited.raw(audited.message(proper.method, proper.params)))) return [];
  const changed = Object.entries(headers).filter(([, value]) => value !== undefined);
  const evidence = `${changed.map(([name, value]) => `${name}: ${value}`).join("\n")}\n${sentAndSeen(exchange)}`;
  return [{ message, evidence, fix }];
}

/** A request with a name that may be sent: nothing but reading comes of it. */
function namedRequest(audited: Audited): { request: Request; method: string; name: string } {
  const { catalogue } = audited;
  const of = (method: string, name: string, params: Members) => ({
    request: audited.message(method, params),
    method,
    name,
  });
  const uri = catalogue.resources?.entries[0]?.["uri"];
  if (typeof uri === "string") return of("resources/read", uri, { uri });
  const tool = catalogue.tools?.entries.find(({ name }) => typeof name === "string" && audited.mayCall(name));
  if (tool) return of("tools/call", tool["name"] as string, { name: tool["name"], arguments: {} });
  const prompt = catalogue.prompts?.entries[0]?.["name"];
  if (typeof prompt === "string") return of("prompts/get", prompt, { name: prompt });
  throw new Inapplicable("it lists no resource, no prompt and no tool that is annotated as read-only");
}
