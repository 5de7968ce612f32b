/**
 * State that is kept in the process: what a process that has served others answers is held against what a fresh one
 * answers (basic, Statelessness). What a fresh process answers differently each time (clocks, counters of the world
 * outside) proves nothing, and is left alone.
 */
import { isDeepStrictEqual } from "node:util";
import { isObject, shown } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import { LISTS, type ListName } from "../catalogue.js";
import type { Found, Rule } from "../rule.js";
import { samplesOf } from "./samples.js";

export const PROCESS_STATE: readonly Rule[] = [
  {
    id: "process-state",
    severity: "error",
    section: "basic, Statelessness",
    title: "A fresh process answers as one that has served other requests",
    applies: "stdio",
    era: "modern",
    run: compareProcesses,
  },
];

/** Requests that are compared: each of them starts a process. */
const MOST_COMPARED = 16;
/** Milliseconds after which no further process is started. */
const MOST_MS = 40_000;

interface Asked {
  readonly what: string;
  readonly method: string;
  readonly params: Members;
  readonly isList: boolean;
}

async function compareProcesses(audited: Audited): Promise<Found[]> {
  const all = askedOf(audited);
  const until = performance.now() + MOST_MS;
  const fresh: unknown[] = [];
  for (const asked of all) {
    if (performance.now() > until || audited.signal.aborted) break;
    fresh.push(await freshAnswer(audited, asked));
  }
  const compared = all.slice(0, fresh.length);
  const used = await usedAnswers(audited, compared);
  const found: Found[] = [];
  for (const [index, asked] of compared.entries()) {
    const difference = await compare(audited, asked, fresh[index], used[index] ?? []);
    if (difference !== undefined) found.push(difference);
  }
  return found;
}

/** Lists and reads: what writes leaves a world behind that answers differently. */
function askedOf(audited: Audited): Asked[] {
  const lists = (Object.keys(LISTS) as ListName[])
    .filter((list) => audited.catalogue[list] !== undefined)
    .map((list): Asked => {
      const { method } = LISTS[list];
      return { what: method, method, params: {}, isList: true };
    });
  const samples = samplesOf(audited)
    .filter(({ method, definition: { annotations } }) => {
      return method !== "tools/call" || (isObject(annotations) && annotations["readOnlyHint"] === true);
    })
    .map(({ what, method, params }): Asked => ({ what, method, params, isList: false }));
  return [...lists, ...samples].slice(0, MOST_COMPARED);
}

/** By request: its answers in one process that serves all of them, twice. */
async function usedAnswers(audited: Audited, all: readonly Asked[]): Promise<unknown[][]> {
  const child = await audited.spawnSpoken("modern");
  const answers: unknown[][] = all.map(() => []);
  for (let round = 0; round < 2; round++) {
    for (const [index, asked] of all.entries()) answers[index]?.push(await answerOf(audited, child, asked));
  }
  await child.kill();
  return answers;
}

async function compare(
  audited: Audited,
  asked: Asked,
  fresh: unknown,
  used: readonly unknown[],
): Promise<Found | undefined> {
  const other = used.find((answer) => !isDeepStrictEqual(answer, fresh));
  if (fresh === undefined || other === undefined) return undefined;
  // The world may have changed meanwhile, or changes all the time: fresh processes must still say the same.
  for (let again = 0; again < 2; again++) {
    if (!isDeepStrictEqual(await freshAnswer(audited, asked), fresh)) return undefined;
  }
  const { what, isList } = asked;
  return {
    message: `${isList ? what : `The ${what}`} is answered differently by a process that has served other requests`,
    evidence: `a fresh process: ${shown(fresh, 300)}\none in use: ${shown(other, 300)}`,
    fix: isList
      ? "Let the list depend on the request alone."
      : "Keep what must outlive a request in a store, under an identifier that the caller passes.",
    // A result may also depend on what is cached, which is no state that anybody relies on.
    ...(!isList && { severity: "warning" as const }),
  };
}

type Child = ReturnType<Audited["spawn"]>;

async function freshAnswer(audited: Audited, asked: Asked): Promise<unknown> {
  const child = audited.spawn();
  const answer = await answerOf(audited, child, asked);
  await child.kill();
  return answer;
}

/** Without what names the request, and what says how long the answer keeps. Undefined where there was none. */
async function answerOf(audited: Audited, child: Child, { method, params }: Asked): Promise<unknown> {
  const response = await child.ask(audited.message(method, params, "modern"), audited.answerMs);
  if (response === undefined) return undefined;
  const { result, error } = response;
  if (!isObject(result)) return { error };
  // The seal of a requestState is new each time.
  const { _meta, ttlMs, requestState, ...rest } = result;
  return { result: { ...rest, hasState: requestState !== undefined } };
}
