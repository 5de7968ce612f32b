/** Which `x-mcp-header` annotations are valid, and how arguments are read through them. */
import { describe, expect, it } from "vitest";
import { headerParams, readPath } from "../../src/schema/header-params.js";

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: "object",
  properties,
  ...more,
});

describe("headerParams", () => {
  it("finds nothing in a schema without annotations", () => {
    expect(headerParams(object({ a: { type: "number" } }))).toEqual({ params: [] });
    expect(headerParams({ type: "object" })).toEqual({ params: [] });
  });

  it("reads annotated properties, nested ones too", () => {
    const schema = object({
      region: { type: "string", "x-mcp-header": "Region" },
      query: { type: "string" },
      options: object({ dry: { type: "boolean", "x-mcp-header": "Dry-Run" } }),
      count: { type: "integer", "x-mcp-header": "count" },
    });
    expect(headerParams(schema)).toEqual({
      params: [
        { header: "mcp-param-region", path: ["region"], type: "string" },
        { header: "mcp-param-dry-run", path: ["options", "dry"], type: "boolean" },
        { header: "mcp-param-count", path: ["count"], type: "integer" },
      ],
    });
  });

  it.each([
    ["number", { type: "number", "x-mcp-header": "Score" }, /got "number"/],
    ["an object", { type: "object", "x-mcp-header": "Score" }, /got "object"/],
    ["no type", { "x-mcp-header": "Score" }, /none is given/],
    ["several types", { type: ["string", "null"], "x-mcp-header": "Score" }, /got \["string","null"\]/],
    ["an empty name", { type: "string", "x-mcp-header": "" }, /must not be empty/],
    ["a space", { type: "string", "x-mcp-header": "My Score" }, /HTTP token/],
    ["a line break", { type: "string", "x-mcp-header": "a\r\nb" }, /HTTP token/],
    ["a line break at the end", { type: "string", "x-mcp-header": "a\n" }, /HTTP token/],
    ["a colon", { type: "string", "x-mcp-header": "a:b" }, /HTTP token/],
    ["a letter beyond ASCII", { type: "string", "x-mcp-header": "größe" }, /HTTP token/],
    ["something that is no string", { type: "string", "x-mcp-header": 7 }, /expected a string/],
  ])("refuses %s, naming the place", (_, score, problem) => {
    const read = headerParams(object({ score }));
    expect(read.params).toBeUndefined();
    expect(read.problem).toMatch(problem);
    expect(read.problem).toContain("properties.score");
  });

  it("refuses names that differ in case only, across levels", () => {
    const schema = object({
      a: { type: "string", "x-mcp-header": "Region" },
      b: object({ c: { type: "string", "x-mcp-header": "REGION" } }),
    });
    expect(headerParams(schema).problem).toMatch(
      /mcp-param-region .*properties\.a and at properties\.b\.properties\.c/,
    );
  });

  const annotated = { type: "string", "x-mcp-header": "X" };
  it.each([
    ["the root", { type: "object", "x-mcp-header": "X" }],
    ["items", object({ list: { type: "array", items: annotated } })],
    ["properties under items", object({ list: { type: "array", items: object({ a: annotated }) } })],
    ["prefixItems", object({ list: { type: "array", prefixItems: [annotated] } })],
    ["anyOf", object({ a: { anyOf: [annotated, { type: "null" }] } })],
    ["oneOf at the root", { type: "object", oneOf: [object({ a: annotated })] }],
    ["allOf", { type: "object", allOf: [object({ a: annotated })] }],
    ["not", object({ a: { not: annotated } })],
    ["if", { type: "object", if: object({ a: annotated }) }],
    ["then", JSON.parse(`{"if":true,"then":{"properties":{"a":${JSON.stringify(annotated)}}}}`)],
    ["else", { type: "object", if: true, else: object({ a: annotated }) }],
    ["$defs", object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: annotated } })],
    [
      "a property within $defs",
      object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: object({ b: annotated }) } }),
    ],
    ["additionalProperties", { type: "object", additionalProperties: annotated }],
    ["patternProperties", { type: "object", patternProperties: { "^a": annotated } }],
    ["dependentSchemas", { type: "object", dependentSchemas: { a: object({ b: annotated }) } }],
    ["a keyword nobody knows", { type: "object", "x-parts": { a: annotated } }],
  ])("refuses an annotation in %s", (_, schema) => {
    expect(headerParams(schema).problem).toMatch(/x-mcp-header "X"/);
  });

  it("takes an annotation for what it is: not in data, not as a property's name", () => {
    const schema = object({
      "x-mcp-header": { type: "string" },
      a: { type: "object", default: { "x-mcp-header": "X" }, examples: [{ "x-mcp-header": "X" }] },
      b: { const: { "x-mcp-header": "X" } },
      c: { type: "array", items: { type: "object", properties: { "x-mcp-header": { type: "string" } } } },
      properties: { type: "string", "x-mcp-header": "Props" },
      const: { type: "string", "x-mcp-header": "Constant" },
    });
    expect(headerParams(schema)).toEqual({
      params: [
        { header: "mcp-param-props", path: ["properties"], type: "string" },
        { header: "mcp-param-constant", path: ["const"], type: "string" },
      ],
    });
  });

  it("ends on a schema that is nested without end", () => {
    const schema: Record<string, unknown> = { type: "object" };
    schema["properties"] = { again: schema };
    expect(headerParams(schema).problem).toMatch(/deeper than 128 levels/);
    const items: Record<string, unknown> = { type: "array" };
    items["items"] = items;
    expect(headerParams(items).problem).toMatch(/deeper than 128 levels/);
  });
});

describe("readPath", () => {
  it("reads own properties only, and takes null for absent", () => {
    const args = { a: { b: 0, c: null, d: "" }, e: false };
    expect(readPath(args, ["a", "b"])).toBe(0);
    expect(readPath(args, ["a", "c"])).toBeUndefined();
    expect(readPath(args, ["a", "d"])).toBe("");
    expect(readPath(args, ["e"])).toBe(false);
    expect(readPath(args, ["e", "b"])).toBeUndefined();
    expect(readPath(args, ["toString"])).toBeUndefined();
    expect(readPath(args, ["a", "__proto__"])).toBeUndefined();
    expect(readPath(undefined, ["a"])).toBeUndefined();
    expect(readPath([1], ["0"])).toBeUndefined();
  });
});
