/** Answers that give away the machine: in errors, which are provoked, and in everything else that is said. */
import { isObject } from "../../json.js";
import { targetName } from "../../target.js";
import type { Audited } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import { errorOf, type RawExchange, resultOf } from "../wire/raw.js";
import {
  absolutePath,
  connectionPassword,
  connectionString,
  masked,
  privateAddress,
  type Recognizer,
  secret,
  stackTrace,
  withoutPassword,
} from "./disclosure-patterns.js";
import { provokedOf } from "./provoked.js";
import { sampledOf } from "./samples.js";
import { around, textsOf } from "./texts.js";

const SECTION = "server/tools, Security Considerations";
const FIX =
  "Give a message of your own and a reference; write the error itself to stderr under that reference.";

export const DISCLOSURE: readonly Rule[] = [
  {
    id: "disclosed-stack",
    severity: "warning",
    section: SECTION,
    title: "Errors hold no stack trace",
    run: async (audited) => inErrors(await saidBy(audited), "a stack trace", stackTrace),
  },
  {
    id: "disclosed-path",
    severity: "warning",
    section: SECTION,
    title: "Errors hold no path of the server's machine",
    // A stack trace is full of paths, and has a rule of its own.
    run: async (audited) =>
      inErrors(await saidBy(audited), "a path of the server's machine", (text, known) =>
        stackTrace(text, known)
          ? undefined
          : absolutePath(text, (path) => [path, ...foldersOf(path)].some(known)),
      ),
  },
  {
    id: "disclosed-address",
    severity: "warning",
    section: SECTION,
    title: "Errors hold no private address",
    run: async (audited) =>
      inErrors(await saidBy(audited), "a private address", (text, known) =>
        connectionString(text, known) ? undefined : privateAddress(text, known),
      ),
  },
  {
    id: "disclosed-connection",
    severity: "error",
    section: SECTION,
    title: "Nothing holds a connection string",
    async run(audited) {
      const said = await saidBy(audited);
      return [
        ...inErrors(said, "a connection string", connectionString, withoutPassword),
        ...everywhere(said, "a connection string with its password", connectionPassword, withoutPassword),
      ];
    },
  },
  {
    id: "disclosed-secret",
    severity: "error",
    section: SECTION,
    title: "Nothing holds a secret",
    run: async (audited) => everywhere(await saidBy(audited), "what looks like a secret", secret, masked),
  },
];

/** The folders that a path is in, but for those that every machine has: who named one of them knows where it is. */
export function foldersOf(path: string): string[] {
  const parts = path.split(/[\\/]/);
  const separator = path.includes("\\") ? "\\" : "/";
  return parts.slice(3).map((_, index) => parts.slice(0, index + 3).join(separator));
}

/** One text of an answer. */
export interface Said {
  /** What it answers, or where it stands. */
  readonly where: string;
  readonly text: string;
  readonly isError: boolean;
  /** What was sent, which it may repeat. */
  readonly sent: string;
}

interface AllSaid {
  readonly said: readonly Said[];
  /** Whether whoever asked knows this anyway. */
  readonly known: (part: string, sent: string) => boolean;
}

async function saidBy(audited: Audited): Promise<AllSaid> {
  const { catalogue, speaking, target } = audited;
  const own = textsOf(catalogue, speaking).map(({ where, text }) => ({
    where,
    text,
    isError: false,
    sent: "",
  }));
  const provoked = (await provokedOf(audited)).flatMap(({ kind, what, exchange }) =>
    answerTexts(`the answer to the ${what} (${kind})`, exchange),
  );
  const sampled = (await sampledOf(audited)).flatMap(({ what, exchange }) =>
    answerTexts(`the answer to the ${what}`, exchange),
  );
  const address = target.kind === "url" ? new URL(target.url).host : undefined;
  const published = [targetName(target), ...own.map(({ text }) => text)].join("\n");
  return {
    said: [...own, ...provoked, ...sampled],
    known: (part, sent) => sent.includes(part) || published.includes(part) || part === address,
  };
}

function answerTexts(where: string, exchange: RawExchange): Said[] {
  const isError = errorOf(exchange) !== undefined || resultOf(exchange)?.["isError"] === true;
  const response = exchange.response;
  const texts = stringsIn(isError ? [response?.["error"], response?.["result"]] : response?.["result"]);
  return texts.map((text) => ({ where, text, isError, sent: exchange.sent }));
}

/** Every string in a value; keys are the author's. Data in Base64 says nothing. */
export function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (depth > 32 || typeof value !== "object" || value === null) return [];
  const inner = isObject(value)
    ? Object.entries(value).flatMap(([key, one]) =>
        key === "blob" || (key === "data" && typeof one === "string" && value["mimeType"] !== undefined)
          ? []
          : [one],
      )
    : (value as unknown[]);
  return inner.flatMap((one) => stringsIn(one, depth + 1));
}

function inErrors(
  { said, known }: AllSaid,
  what: string,
  recognize: Recognizer,
  show?: (text: string) => string,
): Found[] {
  return find(
    said.filter(({ isError }) => isError),
    known,
    what,
    recognize,
    show,
  );
}

function everywhere(
  { said }: AllSaid,
  what: string,
  recognize: Recognizer,
  show: (text: string) => string,
): Found[] {
  // Published texts count as well: nobody should know a secret because it is published.
  return find(said, (part, sent) => sent.includes(part), what, recognize, show);
}

function find(
  said: readonly Said[],
  known: AllSaid["known"],
  what: string,
  recognize: Recognizer,
  show: ((text: string) => string) | undefined,
): Found[] {
  const found = new Map<string, Found>();
  for (const { where, text, sent } of said) {
    const match = recognize(text, (part) => known(part, sent));
    if (match === undefined) continue;
    // One cause shows in many answers: each text that gives away the same is one finding.
    if (found.has(match.text)) continue;
    found.set(match.text, {
      message: `${where.charAt(0).toUpperCase()}${where.slice(1)} holds ${what}`,
      evidence:
        show === undefined ? around(text, match.index, Math.min(match.text.length, 200)) : show(match.text),
      fix: FIX,
    });
  }
  return [...found.values()].slice(0, 10);
}
