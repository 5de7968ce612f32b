/**
 * `requestState`: state that was tampered with is refused, and state of one request is of no use to another
 * (basic/patterns/mrtr, Server Requirements). Only for tools that may be called, because every retry is a call.
 */
import { isObject, shown } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { META } from "../wire/envelope.js";
import { type RawExchange, resultOf, seen } from "../wire/raw.js";
import { isValid, sampleArguments } from "./sample-values.js";
import { callableTools } from "./samples.js";
import { forgeries } from "./state-forgeries.js";

const SECTION = "basic/patterns/mrtr, Server Requirements";

export const REQUEST_STATE: readonly Rule[] = [
  {
    id: "request-state-forged",
    severity: "error",
    section: SECTION,
    title: "A requestState that was tampered with is refused",
    era: "modern",
    run: async (audited) => each(audited, forged),
  },
  {
    id: "request-state-replayed",
    severity: "warning",
    section: SECTION,
    title: "A requestState is refused on a request with other arguments",
    era: "modern",
    run: async (audited) => each(audited, replayed),
  },
];

/** A call that asked for something, and went on with its state. */
interface Round {
  readonly tool: string;
  readonly schema: unknown;
  readonly args: Members;
  readonly state: string;
  readonly inputResponses: Members;
  readonly honest: RawExchange;
}

async function each(
  audited: Audited,
  look: (round: Round, audited: Audited) => Promise<Found[]>,
): Promise<Found[]> {
  const rounds = await audited.once("rounds", () => roundsOf(audited));
  if (rounds.length === 0) {
    throw new Inapplicable(
      "no tool that may be called asks for input with a requestState that it needs; --allow-writes allows others",
    );
  }
  const found: Found[] = [];
  for (const round of rounds) found.push(...(await look(round, audited)));
  return found;
}

/** With everything declared that a tool may ask for. */
function call(audited: Audited, tool: string, args: Members, more: Members = {}): Promise<RawExchange> {
  const _meta = { [META.capabilities]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } };
  return audited.request("tools/call", { name: tool, arguments: args, ...more, _meta });
}

async function roundsOf(audited: Audited): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const { name, inputSchema } of callableTools(audited, audited.catalogue.tools?.entries ?? [])) {
    const args = sampleArguments(inputSchema);
    if (args === undefined) continue;
    const tool = String(name);
    const asked = resultOf(await call(audited, tool, args));
    const { requestState: state, inputRequests } = asked ?? {};
    if (asked?.["resultType"] !== "input_required" || typeof state !== "string" || state === "") continue;
    const inputResponses = answersTo(inputRequests);
    const honest = await call(audited, tool, args, { inputResponses, requestState: state });
    if (!succeeded(honest)) continue;
    // Where it goes on without the state as well, the state decides nothing, and may be left unprotected.
    if (succeeded(await call(audited, tool, args, { inputResponses }))) continue;
    rounds.push({ tool, schema: inputSchema, args, state, inputResponses, honest });
  }
  return rounds;
}

/** It came to its end, and not to an error: what asks again has not taken the state for its own. */
function succeeded(exchange: RawExchange): boolean {
  const result = resultOf(exchange);
  return result !== undefined && result["resultType"] === "complete" && result["isError"] !== true;
}

function answersTo(inputRequests: unknown): Members {
  if (!isObject(inputRequests)) return {};
  return Object.fromEntries(Object.entries(inputRequests).map(([key, request]) => [key, answerTo(request)]));
}

function answerTo(request: unknown): Members {
  const { method, params } = isObject(request) ? request : { method: undefined, params: undefined };
  if (method === "roots/list") return { roots: [] };
  if (method === "sampling/createMessage") {
    return {
      role: "assistant",
      content: { type: "text", text: "sample" },
      model: "sample",
      stopReason: "endTurn",
    };
  }
  const schema = isObject(params) ? params["requestedSchema"] : undefined;
  if (schema === undefined) return { action: "accept" };
  return { action: "accept", content: fullForm(schema) };
}

/** All fields, not only those that are required: what is left out may be asked again. */
function fullForm(schema: unknown): Members {
  if (!isObject(schema) || !isObject(schema["properties"])) return {};
  return (
    sampleArguments({ ...schema, required: Object.keys(schema["properties"]) }) ??
    sampleArguments(schema) ??
    {}
  );
}

async function forged(
  { tool, args, state, inputResponses, honest }: Round,
  audited: Audited,
): Promise<Found[]> {
  const accepted: string[] = [];
  let evidence = "";
  for (const { how, state: requestState } of forgeries(state)) {
    const exchange = await call(audited, tool, args, { inputResponses, requestState });
    if (!succeeded(exchange)) continue;
    if (evidence === "")
      evidence = `${shown(requestState, 200)} instead of ${shown(state, 200)} (${how}): ${seen(exchange)}`;
    accepted.push(how);
  }
  if (accepted.length === 0) return [];
  return [
    {
      message: `The tool ${tool} goes on with a requestState that was tampered with`,
      evidence: `${evidence}\nunchanged: ${seen(honest)}\naccepted: ${accepted.join("; ")}`,
      fix: "Seal it (AEAD or HMAC over all of it) and refuse what does not verify.",
    },
  ];
}

async function replayed(
  { tool, schema, args, state, inputResponses }: Round,
  audited: Audited,
): Promise<Found[]> {
  const other = otherArguments(args, schema);
  if (other === undefined) return [];
  const exchange = await call(audited, tool, other, { inputResponses, requestState: state });
  if (!succeeded(exchange)) return [];
  if (succeeded(await call(audited, tool, other, { inputResponses }))) return [];
  return [
    {
      message: `The tool ${tool} goes on with the requestState of a call that had other arguments`,
      evidence: `given for ${shown(args, 200)}, sent with ${shown(other, 200)}: ${seen(exchange)}`,
      fix: "Put the method and a digest of the arguments into the sealed state, and refuse it on any other request.",
    },
  ];
}

/** Valid, and different in one value. */
function otherArguments(args: Members, schema: unknown): Members | undefined {
  const candidates = Object.entries(args).flatMap(([name, value]): Members[] => {
    if (typeof value === "string")
      return [`${value}y`, value.slice(1)].map((one) => ({ ...args, [name]: one }));
    if (typeof value === "number") return [value + 1, value - 1].map((one) => ({ ...args, [name]: one }));
    return typeof value === "boolean" ? [{ ...args, [name]: !value }] : [];
  });
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  for (const [name, property] of Object.entries(properties)) {
    if (name in args) continue;
    const sample = sampleArguments({
      ...(isObject(schema) ? schema : {}),
      properties: { [name]: property },
      required: [name],
    });
    if (sample !== undefined) candidates.push({ ...args, ...sample });
  }
  return candidates.find((candidate) => isValid(candidate, schema));
}
