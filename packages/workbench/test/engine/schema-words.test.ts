import { describe, expect, it } from "vitest";
import { signature } from "../../src/engine/schema-words.js";

describe("the signature of a tool", () => {
  const signatures: [what: string, schema: Record<string, unknown>, text: string][] = [
    ["nothing", { type: "object" }, ""],
    [
      "required and optional arguments, in their order",
      {
        properties: {
          title: { type: "string" },
          limit: { type: "integer" },
          severity: { enum: ["sev1", "sev2"] },
        },
        required: ["severity", "title"],
      },
      "title: string, limit?: integer, severity: sev1|sev2",
    ],
    [
      "lists and objects",
      {
        properties: {
          tags: { type: "array", items: { type: "string" } },
          kinds: { type: "array", items: { enum: ["a", "b"] } },
          any: { type: "array" },
          user: {
            type: "object",
            properties: { name: { type: "string" }, age: { type: "integer" } },
            required: ["name"],
          },
          free: { type: "object" },
        },
      },
      "tags?: string[], kinds?: (a|b)[], any?: list, user?: {name: string, age?: integer}, free?: object",
    ],
    [
      "choices",
      {
        properties: {
          a: { anyOf: [{ type: "string" }, { type: "null" }] },
          b: { type: ["integer", "boolean"] },
          c: {},
          d: { const: 1 },
        },
      },
      "a?: string|null, b?: integer|boolean, c?: any, d?: 1",
    ],
    [
      "a choice of objects at the root: what all of them need is required",
      {
        oneOf: [
          { properties: { kind: { const: "a" }, x: { type: "integer" } }, required: ["kind", "x"] },
          { properties: { kind: { const: "b" } }, required: ["kind"] },
        ],
      },
      "kind: a|b, x: integer",
    ],
    [
      "words that could be misread, in quotes",
      { properties: { "a b": { enum: ["x|y", "", "no\n"] } } },
      '"a b"?: "x|y"|""|"no\\n"',
    ],
    [
      "long enumerations, cut",
      { properties: { a: { enum: Array.from({ length: 12 }, (_, index) => index) } } },
      "a?: 0|1|2|3|4|5|6|7|...(12)",
    ],
    ["references that lead nowhere", { properties: { a: { $ref: "https://example.com/x" } } }, "a?: any"],
    ["what cannot be", { properties: { a: false } }, "a?: never"],
  ];
  it.each(signatures)("shows %s", (_, schema, text) => {
    expect(signature(schema)).toBe(text);
  });

  it("ends where a schema repeats itself", () => {
    const tree = { type: "object", properties: { label: { type: "string" }, child: { $ref: "#" } } };
    expect(signature(tree)).toBe(
      "label?: string, child?: {label?: string, child?: {label?: string, child?: object}}",
    );
  });
});
