/** What a server asks for, in words: for whoever ran a script that did not answer it. */
import type { ElicitFormParams, ElicitUrlParams } from "mica-mcp/client";
import { expectedOf, type FormField, readForm } from "./form.js";
import { InputNeeded } from "./input-needed.js";
import { shown } from "./json.js";
import { shellWord } from "./target.js";
import { judgeUrl } from "./url-verdict.js";
import type { UsageProblem } from "./usage-error.js";

/** A question that nobody answered, or not as the server asks for it. */
export type Unanswered = {
  readonly key: string;
  readonly params: ElicitFormParams | ElicitUrlParams;
} & (
  | { readonly why: "unfit"; readonly problems: readonly UsageProblem[] }
  /** The answer was sent, and the server asks again. */
  | { readonly why: "again" }
  /** `missing`: those fields are; all of the form where it is undefined. */
  | { readonly why: "absent"; readonly missing: readonly FormField[] | undefined }
);

/** Most fields of one form that are listed. */
const MOST_FIELDS = 40;
/** Longest URL that is shown whole, in characters. */
const MOST_URL = 8_000;

/** What questions of earlier revisions are called, which have no keys of their own. */
const NUMBERED = /^elicitation-\d+$/;
const NUMBERED_HINT =
  "servers of earlier revisions ask without keys: their questions are numbered as they come";

/** @param requests As the server sent them. */
export function inputNeeded(
  unanswered: readonly Unanswered[],
  requests: Readonly<Record<string, unknown>>,
): InputNeeded {
  const isAnswered = unanswered.every(({ why }) => why !== "absent");
  const lines = unanswered.flatMap(linesOf);
  const problems = unanswered.flatMap(problemsOf);
  const pending = unanswered.map(({ key }) => [key, requests[key]] as const);
  const head = isAnswered
    ? "the answers that were given do not fit what the server asks for:"
    : "the server asks for input that was not given:";
  if (unanswered.some(({ key }) => NUMBERED.test(key))) lines.push(NUMBERED_HINT);
  return new InputNeeded([head, ...lines].join("\n"), Object.fromEntries(pending), problems);
}

function linesOf(question: Unanswered): string[] {
  const { key, params } = question;
  if (question.why === "unfit") return question.problems.map(({ path, message }) => `${path}: ${message}`);
  if (question.why === "again") return [`${name(key)}: ${againText(params)}`];
  const asked = `${name(key)}: ${shown(params.message)}`;
  const decline = `${option(`${key}=decline`)}  to decline`;
  if (params.mode === "url") {
    return [
      `${asked} ${shown(params.url, MOST_URL)}`,
      ...judgeUrl(params.url).warnings.map((warning) => `warning: ${warning}`),
      `${option(`${key}=accept`)}  once you have opened it yourself`,
      decline,
    ];
  }
  const fields = question.missing ?? readForm(params.requestedSchema);
  const listed = fields.slice(0, MOST_FIELDS);
  const left = fields.length - listed.length;
  return [
    asked,
    ...listed.map((field) => `${option(`${key}.${field.name}=...`)}  ${fieldText(field)}`),
    ...(left > 0 ? [`and ${left} more fields`] : []),
    ...(fields.some(({ required }) => required) ? [] : [`${option(`${key}=accept`)}  sends its defaults`]),
    decline,
  ];
}

function fieldText(field: FormField): string {
  const { title, preset, required } = field;
  const about = title === undefined ? "" : `${shown(title)}: `;
  const unless = preset === undefined ? (required ? ", required" : "") : `, ${shown(preset)} by default`;
  return `${about}${expectedOf(field)}${unless}`;
}

function problemsOf(question: Unanswered): readonly UsageProblem[] {
  const { key, params } = question;
  if (question.why === "unfit") return question.problems;
  if (question.why === "again") return [{ path: key, message: againText(params) }];
  const missing =
    question.missing ??
    (params.mode === "url" ? [] : readForm(params.requestedSchema).filter(({ required }) => required));
  if (missing.length === 0) return [{ path: key, message: `not answered: ${shown(params.message)}` }];
  return missing.map((field) => ({
    path: `${key}.${field.name}`,
    message: `missing; expected ${expectedOf(field)}`,
  }));
}

function againText({ message }: { readonly message: string }): string {
  return `the server asks again after the answer that was given: ${shown(message, 400)}`;
}

function option(answer: string): string {
  return `--answer ${/\p{C}/u.test(answer) ? JSON.stringify(answer) : shellWord(answer)}`;
}

function name(key: string): string {
  return /^[\w.-]+$/.test(key) ? key : JSON.stringify(key);
}
