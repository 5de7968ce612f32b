/**
 * `requestState`: state that was tampered with is refused, and state of one request is of no use to another
 * (basic/patterns/mrtr, Server Requirements). Only for tools that may be called, because every retry is a call.
 */
import { isDeepStrictEqual } from "node:util";
import { isObject, shown } from "../../json.js";
import { META } from "../../request-meta.js";
import type { Audited, Members } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
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
    title: "A requestState is refused on any request but its own",
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
  /** Whether it asks again, or fails, without the state. */
  readonly isNeeded: boolean;
}

async function each(
  audited: Audited,
  look: (round: Round, audited: Audited, rounds: readonly Round[]) => Promise<Found[]>,
): Promise<Found[]> {
  const rounds = await audited.once("rounds", () => roundsOf(audited));
  if (rounds.length === 0) {
    throw new Inapplicable(
      "no tool that may be called asks for input with a requestState; --allow-writes allows others",
    );
  }
  const found: Found[] = [];
  for (const round of rounds) found.push(...(await look(round, audited, rounds)));
  return found;
}

/** With everything declared that a tool may ask for. */
function call(audited: Audited, tool: string, args: Members, more: Members = {}): Promise<RawExchange> {
  const _meta = { [META.capabilities]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } };
  return audited.request("tools/call", { name: tool, arguments: args, ...more, _meta });
}

/** Rounds of questions that are answered: a tool may ask without end. */
const MOST_ROUNDS = 5;

async function roundsOf(audited: Audited): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const { name, inputSchema } of callableTools(audited, audited.catalogue.tools?.entries ?? [])) {
    const args = sampleArguments(inputSchema);
    if (args === undefined) continue;
    const round = await lastRound(audited, String(name), args);
    if (round !== undefined) rounds.push({ ...round, schema: inputSchema });
  }
  return rounds;
}

/** Answers what it asks until it comes to its end; undefined where it never does, or has no state. */
async function lastRound(
  audited: Audited,
  tool: string,
  args: Members,
): Promise<Omit<Round, "schema"> | undefined> {
  let exchange = await call(audited, tool, args);
  for (let count = 0; count < MOST_ROUNDS; count++) {
    const asked = resultOf(exchange);
    const { requestState: state, inputRequests } = asked ?? {};
    if (asked?.["resultType"] !== "input_required") return undefined;
    const inputResponses = answersTo(inputRequests);
    const isStated = typeof state === "string" && state !== "";
    exchange = await call(audited, tool, args, { inputResponses, ...(isStated && { requestState: state }) });
    if (!succeeded(exchange)) continue;
    if (!isStated) return undefined;
    const isNeeded = !succeeded(await call(audited, tool, args, { inputResponses }));
    return { tool, args, state, inputResponses, honest: exchange, isNeeded };
  }
  return undefined;
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

async function forged(round: Round, audited: Audited): Promise<Found[]> {
  const { tool, args, state, inputResponses, honest } = round;
  const isMisled = await misleading(round, audited);
  const accepted: string[] = [];
  let evidence = "";
  for (const { how, state: requestState } of forgeries(state)) {
    const exchange = await call(audited, tool, args, { inputResponses, requestState });
    if (!isMisled(exchange)) continue;
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

/**
 * What an answer to a forgery must be to prove anything. Where the state is not needed it may be that nobody looks at
 * it, and "integrity protection MAY be omitted": then the answer must also be another one than otherwise.
 */
async function misleading(
  { tool, args, state, inputResponses, honest, isNeeded }: Round,
  audited: Audited,
): Promise<(exchange: RawExchange) => boolean> {
  if (isNeeded) return succeeded;
  const again = await call(audited, tool, args, { inputResponses, requestState: state });
  if (!isDeepStrictEqual(resultOf(again), resultOf(honest))) return () => false;
  return (exchange) => succeeded(exchange) && !isDeepStrictEqual(resultOf(exchange), resultOf(honest));
}

async function replayed(round: Round, audited: Audited, rounds: readonly Round[]): Promise<Found[]> {
  const { tool, schema, args, state, inputResponses } = round;
  const fix =
    "Put the method, the name and a digest of the arguments into the sealed state, and refuse it on any other request.";
  const other = otherArguments(args, schema);
  const found: Found[] = [];
  if (other !== undefined) {
    const exchange = await call(audited, tool, other, { inputResponses, requestState: state });
    if (succeeded(exchange) && !succeeded(await call(audited, tool, other, { inputResponses }))) {
      found.push({
        message: `The tool ${tool} goes on with the requestState of a call that had other arguments`,
        evidence: `given for ${shown(args, 200)}, sent with ${shown(other, 200)}: ${seen(exchange)}`,
        fix,
      });
    }
  }
  // Its neighbour is enough: whoever checks which tool a state is for checks it for all.
  const neighbour = rounds.find((one) => one.tool !== tool && one.isNeeded);
  if (neighbour !== undefined) {
    const more = { inputResponses: neighbour.inputResponses, requestState: state };
    const exchange = await call(audited, neighbour.tool, neighbour.args, more);
    if (succeeded(exchange)) {
      found.push({
        message: `The tool ${neighbour.tool} goes on with a requestState of the tool ${tool}`,
        evidence: `${shown(state, 200)} with ${shown(neighbour.args, 200)}: ${seen(exchange)}`,
        fix,
      });
    }
  }
  return found;
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
