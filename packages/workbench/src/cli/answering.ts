/** Answers what a server asks for: from what was given beforehand, else by asking whoever sits at the terminal. */
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  InputContext,
  InputHandlers,
} from "mica-mcp/client";
import type { FormContent } from "../engine/form.js";
import { type GivenAnswers, readAnswers } from "../engine/given-answers.js";
import { readRoots } from "../engine/roots.js";
import { createPlanner, type RoundPlan } from "../engine/round-plan.js";
import { type Target, targetName } from "../engine/target.js";
import { withoutMark } from "./given-arguments.js";
import type { Live } from "./live.js";
import { type Options, optionError } from "./options.js";
import type { Screen } from "./screen.js";
import type { VerbWarning } from "./verb.js";

export interface AnsweringSettings {
  readonly options: Options;
  readonly target: Target;
  readonly screen: Screen;
  readonly live: Live;
  readonly streams: {
    readonly stdin: Readable;
    readonly stderr: NodeJS.WriteStream;
    readonly interrupt: () => void;
  };
}

export interface Answering {
  readonly handlers: InputHandlers;
  /** Says of every answer that was given and never asked for that it was not. */
  unused(): VerbWarning[];
}

type Params = ElicitFormParams | ElicitUrlParams;

/**
 * Elicitation is declared whether or not there is somebody to ask, so that a script that did not answer is told what
 * the server wants to know; with `--no-ask` it is not.
 *
 * @throws UsageError where `--answers` or `--root` cannot be used.
 */
export async function createAnswering(settings: AnsweringSettings): Promise<Answering> {
  const { options, streams } = settings;
  const roots = options.roots.length > 0 ? { roots: await readRoots(options.roots) } : {};
  if (!options.ask) return { handlers: roots, unused: () => [] };
  const planner = createPlanner(await readGiven(options));
  const plans = new WeakMap<object, RoundPlan>();
  const pages = new Map<string, string>();
  const contents = new Map<string, FormContent>();
  // Standard input that gives the arguments is at its end when a question comes.
  const canAsk = () =>
    options.args !== "-" &&
    streams.stderr.isTTY === true &&
    (streams.stdin as { isTTY?: boolean }).isTTY === true;

  const answer = async (params: Params, context: InputContext): Promise<ElicitResult> => {
    const { key, requests } = context;
    const plan = plans.get(requests) ?? planner.plan(requests, canAsk());
    plans.set(requests, plan);
    const given = plan.answers.get(key);
    if (given !== undefined) {
      return params.mode === "url" && given.action === "accept"
        ? acceptPage(settings, params, context)
        : given;
    }
    const again = params.mode === "url" && pages.get(key) === params.url;
    if (params.mode === "url") pages.set(key, params.url);
    // What was answered before is there to be corrected.
    const known = { ...contents.get(key), ...plan.open.get(key) };
    const result = await ask(settings, params, context, { known, again });
    // Made here, of fields that were filled in.
    contents.set(key, (result.content ?? {}) as FormContent);
    return result;
  };
  return {
    handlers: { ...roots, onElicit: answer, onElicitUrl: answer },
    unused: () =>
      planner.unused().map((what) => ({
        code: "answer_unused",
        message: `${what}: the server did not ask for it`,
      })),
  };
}

async function readGiven({ answers, answersFile, decline }: Options): Promise<GivenAnswers> {
  if (answersFile === undefined) return { pairs: answers, whole: new Map(), declineOthers: decline };
  let json: string;
  try {
    json = withoutMark(await readFile(answersFile, "utf8"));
  } catch (error) {
    throw optionError("--answers", `cannot read ${JSON.stringify(answersFile)}: ${(error as Error).message}`);
  }
  return { pairs: answers, whole: readAnswers(json, answersFile), declineOthers: decline };
}

/**
 * A page that was accepted before anybody saw its URL: it is shown, and never opened, for want of "explicit consent
 * from the user" (client/elicitation, Safe URL Handling).
 */
async function acceptPage(
  { screen, live, target }: AnsweringSettings,
  { message, url }: ElicitUrlParams,
  { server }: InputContext,
): Promise<ElicitResult> {
  const { asker, judgeUrl, urlLines } = await import("./questions.js");
  const { paint } = screen.err;
  const verdict = judgeUrl(url);
  for (const line of urlLines(asker(server, targetName(target), paint), message, verdict, paint))
    live.say(line);
  if (verdict.refusal !== undefined) return { action: "decline" };
  live.say("  Accepted as it was given (--answer); nothing is opened.");
  return { action: "accept" };
}

interface Known {
  readonly known: FormContent;
  readonly again: boolean;
}

async function ask(
  { options, target, screen, live, streams }: AnsweringSettings,
  params: Params,
  { server, signal }: InputContext,
  { known, again }: Known,
): Promise<ElicitResult> {
  const { askForm, askUrl, asker, openDialog } = await import("./questions.js");
  const { paint } = screen.err;
  const release = live.hold();
  try {
    const { stdin: input, stderr: output, interrupt } = streams;
    const dialog = await openDialog({ input, output, paint, signal, interrupt });
    try {
      const who = asker(server, targetName(target), paint);
      return params.mode === "url"
        ? await askUrl(dialog, who, params, { mayOpen: options.open, again })
        : await askForm(dialog, who, params, known);
    } finally {
      dialog.close();
    }
  } finally {
    release();
  }
}
