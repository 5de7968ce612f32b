/** What the result of a call costs whoever reads it. */
import type { CallToolResult } from "mica-mcp/client";
import { isObject, readJson } from "../json.js";
import type { CountTokens } from "./o200k.js";

export interface ResultCost {
  /** Tokens of the text blocks. */
  readonly text: number;
  /** Tokens of the structured content as compact JSON. */
  readonly structuredContent: number;
  /** Tokens of links, and of embedded resources that are text. */
  readonly other: number;
  /** Images, audio and binary resources: hosts count them each in their own way. */
  readonly uncounted: number;
  readonly savings: readonly { readonly id: string; readonly what: string; readonly tokens: number }[];
}

export function countResult({ content, structuredContent }: CallToolResult, count: CountTokens): ResultCost {
  let text = 0;
  let other = 0;
  let uncounted = 0;
  let compact = 0;
  let repeated = 0;
  const structured = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  for (const block of content) {
    if (block.type === "text" && typeof block.text === "string") {
      const tokens = count(block.text);
      text += tokens;
      const value = /^\s*[[{]/.test(block.text) ? readJson(block.text) : undefined;
      if (value === undefined) continue;
      const short = JSON.stringify(value.value);
      // Written anew it may be longer: escapes that were left out, numbers in another form.
      compact += Math.max(0, tokens - count(short));
      if (structured !== undefined && sameJson(value.value, structuredContent)) repeated += tokens;
    } else if (isBinary(block)) uncounted++;
    else other += count(JSON.stringify(block));
  }
  const savings = [
    { id: "prettyPrinted", what: "line breaks and indentation of JSON in text", tokens: compact },
    { id: "repeated", what: "text that says the same as the structured content", tokens: repeated },
  ].filter(({ tokens }) => tokens > 0);
  return {
    text,
    structuredContent: structured === undefined ? 0 : count(structured),
    other,
    uncounted,
    savings,
  };
}

function isBinary(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (typeof block["data"] === "string") return true;
  return isObject(block["resource"]) && typeof block["resource"]["blob"] === "string";
}

/** Whether two values are the same JSON, whatever the order of members. */
function sameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, at) => sameJson(each, other[at]))
    );
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && sameJson(one[key], other[key]))
  );
}
