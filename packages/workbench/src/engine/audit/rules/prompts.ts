/** Prompts: what they require is required, and what they give are messages (server/prompts). */
import { isObject, shown } from "../../json.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { errorOf, resultOf, seen } from "../wire/raw.js";
import { blockProblems } from "./content-blocks.js";
import { type Provoked, provokedOf } from "./provoked.js";
import { type Sampled, sampledOf } from "./samples.js";

const ERRORS = "server/prompts, Error Handling";

export const PROMPTS: readonly Rule[] = [
  {
    id: "prompt-messages",
    severity: "error",
    section: "server/prompts, PromptMessage",
    title: "Prompts give well-formed messages",
    async run(audited) {
      const gets = (await sampledOf(audited)).filter(({ method }) => method === "prompts/get");
      if (gets.length === 0) throw new Inapplicable("no prompt is listed");
      return gets.flatMap(malformed);
    },
  },
  {
    id: "prompt-arguments",
    severity: "warning",
    section: ERRORS,
    title: "A prompt without an argument that it requires is error -32602",
    run: async (audited) => (await provokedOf(audited)).flatMap(missingAccepted),
  },
  {
    id: "prompt-unknown",
    severity: "warning",
    section: ERRORS,
    title: "An unknown prompt is error -32602",
    run: async (audited) => (await provokedOf(audited)).flatMap(unknownPrompt),
  },
];

function malformed({ what, exchange }: Sampled): Found[] {
  const result = resultOf(exchange);
  if (result === undefined || (result["resultType"] ?? "complete") !== "complete") return [];
  return messageProblems(result["messages"])
    .slice(0, 5)
    .map((problem) => ({
      message: `The ${what} is malformed: ${problem}`,
      evidence: seen(exchange),
      fix: 'Answer { "messages": [{ "role": "user", "content": { "type": "text", "text": "..." } }] }.',
    }));
}

export function messageProblems(messages: unknown): string[] {
  if (!Array.isArray(messages)) return [`messages must be an array, got ${shown(messages)}`];
  return messages.slice(0, 1_000).flatMap((message, index) => {
    const at = `messages[${index}]`;
    if (!isObject(message)) return [`${at} must be an object, got ${shown(message)}`];
    const { role, content } = message;
    const isRole = role === "user" || role === "assistant";
    return [
      ...(isRole ? [] : [`${at}.role must be user or assistant, got ${shown(role)}`]),
      ...(Array.isArray(content)
        ? [`${at}.content must be one block, got an array`]
        : blockProblems(content, `${at}.content`)),
    ];
  });
}

function missingAccepted({ kind, what, exchange }: Provoked): Found[] {
  return kind === "missing prompt arguments"
    ? notInvalidParams(exchange, `The ${what} without the arguments that it requires`, "-32602, naming them")
    : [];
}

function unknownPrompt({ kind, exchange }: Provoked): Found[] {
  return kind === "unknown prompt"
    ? notInvalidParams(exchange, "A prompt that does not exist", "-32602")
    : [];
}

function notInvalidParams(exchange: Provoked["exchange"], what: string, code: string): Found[] {
  const error = errorOf(exchange);
  if (error?.code === -32602) return [];
  const result = resultOf(exchange);
  // A server may ask for what is missing.
  if (result?.["resultType"] === "input_required" || (error === undefined && result === undefined)) return [];
  return [
    {
      message: `${what} is ${error ? `error ${String(error.code)}` : "answered as if nothing were wrong"}`,
      evidence: `${exchange.sent}\nwas answered with ${seen(exchange)}`,
      fix: `Answer with error ${code}.`,
    },
  ];
}
