/** Capabilities: what is declared is served, and what is served is declared. */
import { isObject } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import { LISTS, type ListName } from "../catalogue.js";
import type { Found, Rule } from "../rule.js";
import { errorOf, type RawExchange, resultOf, seen } from "../wire/raw.js";
import { quoted } from "./observed.js";
import { UNKNOWN } from "./provoked.js";
import { sampledOf } from "./samples.js";

export const CAPABILITIES: readonly Rule[] = [
  {
    id: "capability-served",
    severity: "error",
    section: "server/tools, Capabilities",
    title: "What a declared capability promises is answered",
    run: declaredButUnserved,
  },
  {
    id: "capability-declared",
    severity: "error",
    section: "server/tools, Capabilities",
    title: "What is answered is declared",
    run: servedButUndeclared,
  },
];

const METHOD_NOT_FOUND = -32601;

async function declaredButUnserved(audited: Audited): Promise<Found[]> {
  const { capabilities } = audited.speaking;
  const found: Found[] = [];
  const check = (capability: string, method: string, exchange: RawExchange) => {
    if (errorOf(exchange)?.code !== METHOD_NOT_FOUND) return;
    found.push({
      message: `The capability ${capability} is declared, and ${method} is an unknown method`,
      evidence: seen(exchange),
      fix: `Answer ${method}, with an empty list where there is nothing; or do not declare ${capability}.`,
    });
  };
  for (const [name, { method, capability }] of Object.entries(LISTS) as [
    ListName,
    (typeof LISTS)[ListName],
  ][]) {
    const page = audited.catalogue[name]?.pages[0];
    // Nothing says that a server with resources must have templates.
    if (page && name !== "resourceTemplates") check(capability, method, page.exchange);
    if (page) found.push(...brokenList(capability, method, page.exchange));
  }
  for (const { what, exchange } of await sampledOf(audited)) {
    if (!what.startsWith("tool ") || exchange.ended !== "closed" || !isSilent(exchange)) continue;
    found.push({
      message: `The capability tools is declared, and a call of the ${what} is not answered: ${LOST[audited.binding]}`,
      evidence: `${quoted(exchange.sent)}\nwas answered with ${seen(exchange)}`,
      fix: "Answer with a result with isError where the tool fails, and serve on.",
    });
  }
  if (capabilities["completions"] !== undefined) {
    check("completions", "completion/complete", await complete(audited));
  }
  if (audited.era === "legacy") await checkLegacy(audited, check);
  return found;
}

/** What becomes of a request where nothing more can come. */
const LOST = { stdio: "the process ends", http: "the connection is closed" } as const;

/** Whether nothing came at all: what came in another form is for other rules. */
function isSilent({ ended, texts, http }: RawExchange): boolean {
  return ended !== undefined && texts.length === 0 && (http?.body ?? "") === "";
}

/** A list that is there, and cannot be read. */
function brokenList(capability: string, method: string, exchange: RawExchange): Found[] {
  const code = errorOf(exchange)?.code;
  // Whoever lets nobody in, or not so often, has answered.
  const isRefusal = [401, 403, 429].includes(exchange.http?.status ?? 0);
  if (isRefusal || code === METHOD_NOT_FOUND || (code === undefined && !isSilent(exchange))) return [];
  const instead = code === undefined ? "not answered" : `answered with error ${String(code)}`;
  return [
    {
      message: `The capability ${capability} is declared, and ${method} is ${instead}`,
      evidence: `${quoted(exchange.sent)}\nwas answered with ${seen(exchange)}`,
      fix: `Answer ${method}, with an empty list where there is nothing.`,
    },
  ];
}

/** Methods of the revisions before 2026-07-28 that change nothing but what is sent to this connection. */
async function checkLegacy(
  { speaking: { capabilities }, catalogue, request }: Audited,
  check: (capability: string, method: string, exchange: RawExchange) => void,
): Promise<void> {
  if (capabilities["logging"] !== undefined) {
    check("logging", "logging/setLevel", await request("logging/setLevel", { level: "emergency" }));
  }
  const { resources } = capabilities;
  const uri = catalogue.resources?.entries[0]?.["uri"];
  if (isObject(resources) && resources["subscribe"] === true && typeof uri === "string") {
    check("resources.subscribe", "resources/subscribe", await request("resources/subscribe", { uri }));
    check("resources.subscribe", "resources/unsubscribe", await request("resources/unsubscribe", { uri }));
  }
}

function complete(audited: Audited): Promise<RawExchange> {
  const { prompts, resourceTemplates } = audited.catalogue;
  const prompt = prompts?.entries.find(
    (one) => Array.isArray(one["arguments"]) && one["arguments"].length > 0,
  );
  const template = resourceTemplates?.entries[0]?.["uriTemplate"];
  const [argument] = (prompt?.["arguments"] as Members[] | undefined) ?? [];
  const variable = /\{[+#./;?&]?(\w+)/.exec(String(template))?.[1];
  const asked =
    prompt || variable === undefined
      ? {
          ref: { type: "ref/prompt", name: prompt?.["name"] ?? UNKNOWN.name },
          name: argument?.["name"] ?? "name",
        }
      : { ref: { type: "ref/resource", uri: template }, name: variable };
  return audited.request("completion/complete", {
    ref: asked.ref,
    argument: { name: asked.name, value: "" },
  });
}

async function servedButUndeclared(audited: Audited): Promise<Found[]> {
  const { speaking, request } = audited;
  const { capabilities, revision } = speaking;
  const found: Found[] = [];
  const report = (capability: string, method: string, exchange: RawExchange) => {
    found.push({
      message: `${method} answers with something, and the capability ${capability} is not declared`,
      evidence: seen(exchange),
      fix: `Declare ${capability}: clients do not ask for what is not declared.`,
    });
  };
  for (const [name, { method, capability }] of Object.entries(LISTS)) {
    if (capabilities[capability] !== undefined) continue;
    const exchange = await request(method, {});
    const list = resultOf(exchange)?.[name];
    if (Array.isArray(list) && list.length > 0) report(capability, method, exchange);
  }
  // The capability is as old as 2025-03-26.
  if (capabilities["completions"] === undefined && revision >= "2025-03-26") {
    const exchange = await complete(audited);
    const completion = resultOf(exchange)?.["completion"];
    const values = isObject(completion) ? completion["values"] : undefined;
    if (Array.isArray(values) && values.length > 0) report("completions", "completion/complete", exchange);
  }
  return found;
}
