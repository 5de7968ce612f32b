/** What a person who reads a text does not see, and a model does. */
import type { Audited } from "../audited.js";
import type { Found, Rule } from "../rule.js";
import { LOOK_ALIKES } from "./look-alikes.js";
import { codePoint } from "./names.js";
import { around, type Text, textsOf, visible } from "./texts.js";

const SECTION = "server/tools, Tool";

export const HIDDEN_TEXT: readonly Rule[] = [
  {
    id: "hidden-characters",
    severity: "error",
    section: SECTION,
    title: "Descriptions, which are human-readable, hold no invisible characters",
    run: everyText(hiddenCharacters),
  },
  {
    id: "escape-sequences",
    severity: "warning",
    section: SECTION,
    title: "Descriptions hold no control characters or terminal escapes",
    run: everyText(escapes),
  },
  {
    id: "hidden-markup",
    severity: "warning",
    section: SECTION,
    title: "Nothing stands in comments or markup that is not shown",
    run: everyText(hiddenMarkup),
  },
  {
    id: "mixed-scripts",
    severity: "warning",
    section: SECTION,
    title: "No word mixes letters of different scripts that look alike",
    run: everyText(mixedScripts),
  },
];

function everyText(look: (text: Text) => Found[]): (audited: Audited) => Found[] {
  return ({ catalogue, speaking }) => textsOf(catalogue, speaking).flatMap(look);
}

interface Kind {
  readonly what: string;
  readonly pattern: RegExp;
  readonly severity?: "warning";
  /** Needed where letters run from right to left. */
  readonly unlessRightToLeft?: true;
}

/** `\p{Cf}` and its like, but for where writing needs them: emoji, joined scripts, text from right to left. */
const KINDS: readonly Kind[] = [
  // A flag is written with tags: a black flag, letters, and the tag that ends it.
  {
    what: "Unicode tags, a second text that is never shown",
    pattern: /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0000}-\u{e007f}]+/gu,
  },
  { what: "an override of the direction, which shows a text in another order", pattern: /[\u202d\u202e]/gu },
  {
    what: "variation selectors that select nothing, and can hold bytes",
    pattern: /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu,
  },
  {
    what: "an embedding of the direction in a text that has no letters from right to left",
    pattern: /[\u202a-\u202c\u2066-\u2069\u200e\u200f]/gu,
    severity: "warning",
    unlessRightToLeft: true,
  },
  {
    what: "characters without a width",
    pattern: /[\u200b\u2060-\u2064\ufeff\u180e\u3164\u115f\u1160\uffa0]/gu,
    severity: "warning",
  },
  {
    what: "a joiner where nothing is joined",
    pattern:
      /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|[^\P{L}\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]|\p{M})[\u200c\u200d]/gu,
    severity: "warning",
  },
];

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

export function hiddenCharacters({ where, text }: Text): Found[] {
  return KINDS.flatMap(({ what, pattern, severity, unlessRightToLeft }) => {
    if (unlessRightToLeft && RIGHT_TO_LEFT.test(text)) return [];
    const first = pattern.exec(text);
    pattern.lastIndex = 0;
    if (first === null) return [];
    const points = [...new Set(first[0])].slice(0, 8).map(codePoint).join(" ");
    const hidden = tagText(text);
    return [
      {
        message: `${where} holds ${what}`,
        evidence: `${points} in ${around(text, first.index, first[0].length)}${hidden === "" ? "" : `; the tags say ${JSON.stringify(hidden)}`}`,
        fix: "Remove them: whoever approves the text must see all that the model reads.",
        ...(severity !== undefined && { severity }),
      },
    ];
  });
}

function tagText(text: string): string {
  const tags = text.match(/[\u{e0020}-\u{e007e}]/gu) ?? [];
  return tags
    .map((one) => String.fromCharCode((one.codePointAt(0) ?? 0) - 0xe0000))
    .join("")
    .slice(0, 200);
}

export function escapes({ where, text }: Text): Found[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const first = /\x1b\[[0-9;]*[A-Za-z]|\x1b\][^\x07]{0,200}|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.exec(text);
  if (first === null) return [];
  return [
    {
      message: `${where} holds ${first[0].startsWith("\x1b") ? "a terminal escape" : "a control character"}`,
      evidence: around(text, first.index, first[0].length),
      fix: "Remove it: printed on a terminal it hides or changes what is seen.",
    },
  ];
}

/** Comments, and elements that say of themselves that they are not shown. */
const MARKUP = [
  /<!--[\s\S]*?(?:-->|$)/,
  /^\[(?:\/\/|comment)\]:\s*[#<].*$/im,
  /<\w{1,30}[^<>]{0,300}\s(?:hidden\b|style\s?=\s?["'][^"']{0,300}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])))[^<>]{0,300}>/i,
];

export function hiddenMarkup({ where, kind, text }: Text): Found[] {
  if (kind === "name") return [];
  const first = MARKUP.map((pattern) => pattern.exec(text)).find((match) => match !== null);
  // Documentation of markup shows it as code.
  if (!first || isCode(text, first.index) || first[0].length < 8) return [];
  return [
    {
      message: `${where} holds something that a viewer of the text does not show`,
      evidence: JSON.stringify(visible(first[0].slice(0, 200))),
      fix: "Remove it, or write it where it is seen.",
    },
  ];
}

function isCode(text: string, index: number): boolean {
  const before = text.slice(0, index);
  return (before.split("`").length - 1) % 2 === 1;
}

export function mixedScripts({ where, text }: Text): Found[] {
  for (const { 0: word, index } of text.matchAll(/\p{L}{2,}/gu)) {
    if (!/\p{Script=Latin}/u.test(word)) continue;
    const foreign = [...word].filter((one) => LOOK_ALIKES.has(one));
    // A symbol in a unit or a formula, such as "kΩ" or "Δx", looks like no Latin letter.
    if (foreign.length === 0) continue;
    return [
      {
        message: `${where} has a word with letters that only look Latin: ${JSON.stringify(word)}`,
        evidence: `${[...new Set(foreign)].map((one) => `${codePoint(one)} for ${LOOK_ALIKES.get(one) ?? ""}`).join(", ")} in ${around(text, index, word.length)}`,
        fix: "Write it in one script: two texts that look the same must be the same.",
      },
    ];
  }
  return [];
}
