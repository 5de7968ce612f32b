/**
 * Which questions of a round are answered by what was given beforehand, and which are left for a person. A round is
 * looked at as a whole, so that nobody fills in one form before another one turns out to be answered wrongly.
 */
import { isDeepStrictEqual } from "node:util";
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from "mica-mcp/client";
import type { Pair } from "./argument-pairs.js";
import type { FormContent } from "./form.js";
import { findContent } from "./form-content.js";
import { type GivenAnswers, readAction } from "./given-answers.js";
import { inputNeeded, type Unanswered } from "./input-words.js";
import { isObject } from "./json.js";

export interface RoundPlan {
  readonly answers: ReadonlyMap<string, ElicitResult>;
  /** Questions for a person, each with what is known of its content. */
  readonly open: ReadonlyMap<string, FormContent>;
}

export interface Planner {
  /**
   * @param requests All input requests of a round, by key; only elicitations are looked at.
   * @param canAsk Whether there is a person to ask.
   * @throws InputNeeded where an answer does not fit, or where there is none and nobody to ask.
   */
  plan(requests: Readonly<Record<string, unknown>>, canAsk: boolean): RoundPlan;
  /** What was given for questions that were never asked. */
  unused(): string[];
}

type Params = ElicitFormParams | ElicitUrlParams;

interface Found {
  readonly answer?: ElicitResult;
  /** Why there is no answer, and what of it is known. */
  readonly unanswered?: Unanswered;
  readonly known?: FormContent;
}

export function createPlanner(given: GivenAnswers): Planner {
  const sent = new Map<string, ElicitResult>();
  const asked = new Set<string>();
  const used = new Set<Pair>();

  return {
    plan(requests, canAsk) {
      const keys = Object.keys(requests);
      const answers = new Map<string, ElicitResult>();
      const open = new Map<string, FormContent>();
      const unanswered: Unanswered[] = [];
      for (const [key, request] of Object.entries(requests)) {
        const params = elicitation(request);
        if (params === undefined) continue;
        const own = given.pairs.filter(({ name }) => ownerOf(name, keys) === key);
        asked.add(key);
        for (const pair of own) used.add(pair);
        let found = find(given, key, params, own);
        const before = sent.get(key);
        // Sent once more it would do no better, and the server would ask for ever.
        if (before !== undefined && isDeepStrictEqual(found.answer, before))
          found = { unanswered: { key, params, why: "again" }, known: (before.content ?? {}) as FormContent };
        if (found.answer !== undefined) answers.set(key, found.answer);
        else if (found.known !== undefined && canAsk && !given.declineOthers) open.set(key, found.known);
        else if (found.unanswered !== undefined) unanswered.push(found.unanswered);
      }
      if (unanswered.length > 0) throw inputNeeded(unanswered, requests);
      for (const [key, answer] of answers) sent.set(key, answer);
      return { answers, open };
    },
    unused: () => [
      ...given.pairs.filter((pair) => !used.has(pair)).map(({ name }) => `--answer ${name}`),
      ...[...given.whole.keys()].filter((key) => !asked.has(key)).map((key) => `--answers ${key}`),
    ],
  };
}

function elicitation(request: unknown): Params | undefined {
  if (!isObject(request) || request["method"] !== "elicitation/create") return undefined;
  return request["params"] as Params;
}

/** Keys may hold dots, and so may fields: the longest key that fits is meant. */
function ownerOf(name: string, keys: readonly string[]): string | undefined {
  const fitting = keys.filter((key) => name === key || name.startsWith(`${key}.`));
  return fitting.sort((a, b) => b.length - a.length)[0];
}

function find(given: GivenAnswers, key: string, params: Params, own: readonly Pair[]): Found {
  const whole = given.whole.get(key);
  if (whole === undefined && own.length === 0) {
    if (given.declineOthers) return { answer: { action: "decline" } };
    return { unanswered: { key, params, why: "absent", missing: undefined }, known: {} };
  }
  const unfit = (message: string): Found => ({
    unanswered: { key, params, why: "unfit", problems: [{ path: key, message }] },
  });
  const fields = own.filter(({ name }) => name !== key);
  const actions = own.filter(({ name }) => name === key).map(({ text }) => text);
  if (fields.length > 0) actions.push("accept");
  if (new Set(actions).size > 1) return unfit(`given both ${[...new Set(actions)].join(" and ")}`);
  const action = actions.length > 0 ? readAction(actions[0]) : whole?.action;
  if (action === undefined) return unfit(`expected accept, decline or cancel, got ${actions[0]}`);
  if (action !== "accept") return { answer: { action } };
  if (params.mode === "url") {
    if (fields.length === 0 && Object.keys(whole?.content ?? {}).length === 0) return { answer: { action } };
    return unfit("is a page to open, and has no fields; expected accept, decline or cancel");
  }
  const found = findContent(key, params, fields, whole);
  if ("problems" in found) return { unanswered: { key, params, why: "unfit", problems: found.problems } };
  const { content, missing } = found;
  if (missing.length === 0) return { answer: { action, content } };
  return { unanswered: { key, params, why: "absent", missing }, known: content };
}
