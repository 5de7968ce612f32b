/** Texts that do not describe a thing but tell the model what to do, or to keep quiet about. */
import type { Found, Rule } from "../rule.js";
import { around, type Text, textsOf } from "./texts.js";

export const MODEL_INSTRUCTIONS: readonly Rule[] = [
  {
    id: "model-instructions",
    severity: "warning",
    section: "server/tools, Tool",
    title: "Descriptions describe; they do not tell the model to do something else",
    run: ({ catalogue, speaking }) => textsOf(catalogue, speaking).flatMap(modelInstructions),
  },
  {
    id: "tool-description",
    severity: "note",
    section: "server/tools, Tool",
    title: "Every tool has a description",
    run: ({ catalogue }) =>
      (catalogue.tools?.entries ?? []).flatMap(({ name, description }) =>
        typeof description === "string" && description.trim() !== ""
          ? []
          : [
              {
                message: `The tool ${String(name)} has no description`,
                evidence: `"description": ${JSON.stringify(description) ?? "absent"}`,
                fix: "Say in a sentence or two what it does, what it returns, and when to use it.",
              },
            ],
      ),
  },
];

interface Sign {
  /** What a text with it does. */
  readonly says: string;
  readonly pattern: RegExp;
  /** Whether instructions, which are guidance for the model, may say it. */
  readonly allowedInInstructions?: true;
}

const PERSON = String.raw`(?:the|this|any|your) (?:user|human|person|customer)s?\b(?!['\u2019]s?\b|[- ](?:id|name|agent|data|record|account|email|list|table|group|role|profile))`;
const TOOL = String.raw`(?:tools?|functions?)\b`;

const SIGNS: readonly Sign[] = [
  {
    says: "tells the model to ignore what it was told before",
    pattern:
      /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|preceding|existing|system)\b[^.\n]{0,20}\b(?:instructions?|prompts?|guidelines|directions)\b/i,
  },
  {
    says: "tells the model to keep something from the person",
    pattern: new RegExp(
      String.raw`\b(?:do not|don['\u2019]t|must not|never)\s+(?:ever |even )?(?:tell|inform|mention|notify|alert|reveal|warn)\b[^.\n]{0,40}?\b${PERSON}|\bwithout (?:ever |even )?(?:telling|informing|asking|mentioning)\b[^.\n]{0,40}?\b${PERSON}|\b(?:hide|conceal|keep)\b[^.\n]{0,40}\bfrom ${PERSON}`,
      "i",
    ),
  },
  {
    says: "is dressed up as a message of the system",
    pattern:
      /<\s?(?:important|secret|system[-_ ]?(?:prompt|message|reminder))\s?>|<\s?(system|instructions?)\s?>[\s\S]{0,2000}?<\s?\/\s?\1\s?>|\[\/?(?:system|inst)\]|<\|(?:im_start|system|assistant)\|>|^[ \t]{0,20}system ?: ?you\b/im,
  },
  {
    says: "gives the model another role",
    pattern:
      /\byou are (?:now|no longer) (?:an?|the|in|bound)\b|\bnew (?:system )?(?:instructions|prompt)\s*:/i,
  },
  {
    says: "has the model read or pass on what is not its business",
    pattern:
      /\b(?:read|open|include|send|pass|attach|append|put|copy|forward)\b[^.\n]{0,80}(?:~\/\.(?:ssh|aws|cursor|config|gnupg|kube|env)|\bid_(?:rsa|ed25519)\b|\/etc\/(?:passwd|shadow)|\b(?:entire|full|whole|complete|your) (?:system prompt|(?:chat|conversation) history|conversation|context window)\b|\b(?:your|the) system prompt\b)/i,
  },
  {
    says: "wants to be called before other tools",
    pattern: new RegExp(
      String.raw`\b(?:before|prior to)\s+(?:you )?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?)\s+(?:any|all|every|each)\b[^.\n]{0,20}\b${TOOL}`,
      "i",
    ),
    allowedInInstructions: true,
  },
  {
    says: "tells the model how to use tools that are not its own",
    pattern: new RegExp(
      String.raw`\b(?:do not|don['\u2019]t|never|stop)\s+(?:us(?:e|ing)|call(?:ing)?)\s+(?:any|all|the)\s+(?:other|built-?in|native)\b[^.\n]{0,20}\b${TOOL}|\bwhen(?:ever)? (?:you )?(?:us(?:e|ing)|call(?:ing)?) (?:any )?other ${TOOL}`,
      "i",
    ),
  },
];

export function modelInstructions({ where, kind, text }: Text): Found[] {
  return SIGNS.filter((sign) => !(sign.allowedInInstructions && kind === "instructions")).flatMap(
    ({ says, pattern }) => {
      const match = pattern.exec(text);
      if (match === null) return [];
      return [
        {
          message: `${where} ${says}`,
          evidence: around(text, match.index, match[0].length),
          fix: "Say what the thing does and what it returns; leave to the host what the model does with it.",
        },
      ];
    },
  );
}
