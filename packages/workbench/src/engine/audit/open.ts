/** From a target to what rules may use of it: which eras it speaks, what it says of itself, its catalogue. */
import { McpError } from "mica-mcp/client";
import { keptAuth, saysWhoCalls } from "../credentials.js";
import { isObject } from "../json.js";
import { type Target, targetName } from "../target.js";
import type { Audited, Era, Speaking } from "./audited.js";
import { type Bound, bind, sharedMaker } from "./bound.js";
import { type Catalogue, LISTS, readCatalogue } from "./catalogue.js";
import { requestOf } from "./wire/envelope.js";
import { httpLink } from "./wire/http-link.js";
import type { Link } from "./wire/link.js";
import { errorOf, type RawExchange, resultOf, seen } from "./wire/raw.js";
import { stdioLink } from "./wire/stdio-link.js";

export interface AuditSettings {
  readonly signal: AbortSignal;
  /** Milliseconds to wait for one answer. */
  readonly answerMs: number;
  /** Undefined or `auto`: whatever the server speaks. */
  readonly era: "auto" | Era | undefined;
  /** Tools that may be called although they are not annotated as read-only. */
  readonly allowWrites: readonly string[];
  /** By name; `valid` is sent with every request that is not about tokens. */
  readonly tokens: ReadonlyMap<string, string>;
}

export interface Opened {
  /** What one rule may use; everything it starts is ended by `end`. */
  forRule(signal: AbortSignal): Bound;
  readonly audited: Audited;
  close(): Promise<void>;
}

/** Milliseconds in which a process must answer the probe, before it is taken for one of an earlier revision. */
const PROBE_MS = 5_000;
/** Errors that only a modern server gives (transports/stdio, Backward Compatibility). */
const MODERN_ERRORS: readonly unknown[] = [-32020, -32021, -32022];

/** @throws McpError where the server cannot be reached, or speaks no era that is known here. */
export async function openAudited(target: Target, settings: AuditSettings): Promise<Opened> {
  const { signal, answerMs, tokens } = settings;
  const always = await credentialsOf(target, tokens);
  let catalogue: Catalogue | undefined;
  const tools = () => catalogue?.tools?.entries ?? [];
  const linkOf = (era: Era): Link =>
    target.kind === "command"
      ? stdioLink(target, era, signal, answerMs)
      : httpLink(target, era, signal, answerMs, { always, tools });
  const links = { modern: linkOf("modern"), legacy: linkOf("legacy") };
  const close = async () => {
    await Promise.all([links.modern.close(), links.legacy.close()]);
  };
  try {
    const modern = settings.era === "legacy" ? undefined : await openModern(links.modern, signal, answerMs);
    const isLocked = modern?.http?.status === 401;
    const spokenModern = modern && !isLocked ? modernSpeaking(modern, links.modern) : undefined;
    const legacy =
      settings.era === "modern" || isLocked ? undefined : await openLegacy(links.legacy, spokenModern);
    const locked: Speaking | undefined =
      isLocked && modern ? speakingOf("modern", links.modern, modern) : undefined;
    const undiscovered =
      modern && !spokenModern && !locked
        ? await openUndiscovered(links.modern, legacy, signal, answerMs)
        : undefined;
    const speaking = spokenModern ?? undiscovered ?? legacy ?? locked;
    if (speaking === undefined) throw neither(target, modern, links.legacy.handshake);
    const shared = sharedMaker();
    const base = {
      target,
      settings,
      links,
      modern: spokenModern ?? undiscovered,
      legacy,
      speaking,
      isLocked,
      shared,
      tools,
    };
    const first = bind(base, () => catalogue ?? EMPTY, signal);
    if (!isLocked) catalogue = await readCatalogue(speaking.capabilities, first.audited.request);
    return {
      audited: first.audited,
      forRule: (ruleSignal) => bind(base, () => catalogue ?? EMPTY, ruleSignal),
      close: async () => {
        await first.end();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const EMPTY: Catalogue = {
  tools: undefined,
  resources: undefined,
  resourceTemplates: undefined,
  prompts: undefined,
};

/** What every request to a URL carries: the headers that were given, and the credentials. */
async function credentialsOf(
  target: Target,
  tokens: ReadonlyMap<string, string>,
): Promise<() => Promise<Readonly<Record<string, string>>>> {
  if (target.kind === "command") return async () => ({});
  const { url, headers } = target;
  const valid = tokens.get("valid");
  if (valid !== undefined && !saysWhoCalls(headers))
    return async () => ({ ...headers, Authorization: `Bearer ${valid}` });
  const auth = await keptAuth(target);
  if (auth === undefined) return async () => headers;
  const server = new URL(url);
  return async () => ({ ...headers, ...(await auth.authorize({ server, url: server, method: "POST" })) });
}

async function openModern(link: Link, signal: AbortSignal, answerMs: number): Promise<RawExchange> {
  const timeoutMs = Math.min(PROBE_MS, answerMs);
  return link.send(
    requestOf(link.nextId(), "server/discover", {}, link),
    {},
    { signal, answerMs, timeoutMs },
  );
}

/** Undefined where the answer is none of a modern server. */
function modernSpeaking(opening: RawExchange, link: Link): Speaking | undefined {
  const result = resultOf(opening);
  const isModern =
    result?.["supportedVersions"] !== undefined || MODERN_ERRORS.includes(errorOf(opening)?.code);
  return isModern ? speakingOf("modern", link, opening) : undefined;
}

async function openLegacy(link: Link, modern: Speaking | undefined): Promise<Speaking | undefined> {
  try {
    const opening = await link.open();
    if (opening && typeof resultOf(opening)?.["protocolVersion"] === "string")
      return speakingOf("legacy", link, opening);
  } catch (error) {
    // A modern server need not know what this is.
    if (modern === undefined) throw error;
  }
  return undefined;
}

function speakingOf(era: Era, link: Link, opening: RawExchange): Speaking {
  const result = resultOf(opening) ?? {};
  const capabilities = isObject(result["capabilities"]) ? result["capabilities"] : {};
  const { revision } = link;
  const discovered = era === "modern" && result["supportedVersions"] !== undefined;
  return { era, revision, opening, discovered, result, capabilities, instructions: result["instructions"] };
}

/** A server that serves modern requests and has no `server/discover`: told by a list with a `resultType`. */
async function openUndiscovered(
  link: Link,
  legacy: Speaking | undefined,
  signal: AbortSignal,
  answerMs: number,
): Promise<Speaking | undefined> {
  const capabilities: Record<string, unknown> = {};
  let opening: RawExchange | undefined;
  for (const { method, capability } of Object.values(LISTS)) {
    const options = { signal, answerMs, timeoutMs: Math.min(PROBE_MS, answerMs) };
    const exchange = await link.send(requestOf(link.nextId(), method, {}, link), {}, options);
    if (exchange.ended !== undefined) break;
    // What an earlier revision serves has no type.
    if (resultOf(exchange)?.["resultType"] === undefined) continue;
    opening ??= exchange;
    capabilities[capability] = legacy?.capabilities[capability] ?? {};
  }
  return opening && { ...speakingOf("modern", link, opening), discovered: false, capabilities };
}

function neither(target: Target, modern: RawExchange | undefined, legacy: RawExchange | undefined): McpError {
  const saw = [
    ...(modern ? [`server/discover: ${seen(modern, 200)}`] : []),
    ...(legacy ? [`initialize: ${seen(legacy, 200)}`] : []),
  ];
  const all = [modern, legacy].filter((one) => one !== undefined);
  const died = all.some(({ ended }) => ended === "closed");
  const isSilent = all.every(({ ended, texts, http }) => ended === "timeout" && texts.length === 0 && !http);
  return new McpError(
    died ? "connection_lost" : isSilent ? "timeout" : "invalid_response",
    `${targetName(target)} answers in no era of the protocol (${saw.join("; ")})`,
  );
}
