// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
/** Validation by JSON Schema given as data: the semantics of the dialects, and problems a reader can act on. */
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../src/protocol/features.js";
import { compileJsonSchema } from "../../src/schema/json-schema.js";
import { MAX_VALIDATION_MS, maySlowDown } from "../../src/schema/time-limit.js";

type Case = [what: string, schema: JsonSchema | boolean, valid: unknown[], invalid: unknown[]];

const DRAFT_7 = "http://json-schema.org/draft-07/schema#";
const DRAFT_4 = "http://json-schema.org/draft-04/schema#";
const DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema";

const tree = {
  $ref: "#/$defs/node",
  $defs: {
    node: {
      type: "object",
      properties: { value: { type: "number" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      required: ["value"],
    },
  },
};

const CASES: Case[] = [
  ["true", true, [1, null, {}], []],
  ["false", false, [], [1, null, {}]],
  ["type", { type: "integer" }, [1, 1.0, -0, 1e15], [1.5, "1", true, null, [1], {}]],
  ["several types", { type: ["string", "null"] }, ["", null], [0, false, {}]],
  ["null is no object", { type: "object" }, [{}], [null, [], "x"]],
  ["arrays are no objects", { type: "array" }, [[], [1]], [{}, null]],
  [
    "enum",
    { enum: [1, "a", null, { x: [1] }] },
    [1, "a", null, { x: [1] }],
    [2, "1", {}, { x: [1, 2] }, { x: [1], y: 1 }],
  ],
  ["const with an object", { const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [{ a: 1 }, { a: 1, b: [3] }, []]],
  ["const null", { const: null }, [null], [0, "", undefined === null, false]],
  ["const false is not 0", { const: false }, [false], [0, "", null]],
  [
    "minLength counts characters, not units",
    { minLength: 2, maxLength: 2 },
    ["ab", "😀😀"],
    ["a", "😀", "abc"],
  ],
  ["pattern", { pattern: "^\\p{L}+$" }, ["abc", "äöü", 1], ["a1", ""]],
  ["pattern is not anchored", { pattern: "b" }, ["abc"], ["ac"]],
  ["bounds", { minimum: 1, exclusiveMaximum: 3 }, [1, 2.9], [0.9, 3]],
  ["multipleOf with decimals", { multipleOf: 0.01 }, [0.07, 1.1, 19.99, 0], [0.075]],
  ["multipleOf with large numbers", { multipleOf: 1e-8 }, [12391239123], []],
  [
    "required looks at own properties",
    { required: ["toString", "__proto__"] },
    [JSON.parse('{"toString":1,"__proto__":2}')],
    [{}, { toString: 1 }],
  ],
  [
    "properties looks at own properties",
    { properties: { constructor: { type: "number" } } },
    [{}, { constructor: 1 }],
    [{ constructor: "x" }],
  ],
  [
    "a property called __proto__",
    JSON.parse('{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}'),
    [JSON.parse('{"__proto__":"x"}'), {}],
    [JSON.parse('{"__proto__":1}'), { x: 1 }],
  ],
  [
    "properties, patternProperties, additionalProperties",
    {
      properties: { a: { type: "string" } },
      patternProperties: { "^n": { type: "number" } },
      additionalProperties: { type: "boolean" },
    },
    [{ a: "x", n1: 1, other: true }],
    [{ a: 1 }, { n1: "x" }, { other: "x" }],
  ],
  [
    "additionalProperties: false",
    { properties: { a: true }, additionalProperties: false },
    [{}, { a: 1 }, [1]],
    [{ b: 1 }],
  ],
  [
    "additionalProperties sees only its own schema",
    { allOf: [{ properties: { a: true } }], additionalProperties: false },
    [{}],
    [{ a: 1 }],
  ],
  ["propertyNames", { propertyNames: { pattern: "^[a-z]+$" } }, [{ ab: 1 }], [{ A: 1 }]],
  [
    "minProperties, maxProperties",
    { minProperties: 1, maxProperties: 2 },
    [{ a: 1 }],
    [{}, { a: 1, b: 1, c: 1 }],
  ],
  [
    "dependentRequired",
    { dependentRequired: { card: ["address"] } },
    [{}, { card: 1, address: 2 }],
    [{ card: 1 }],
  ],
  [
    "dependentSchemas",
    { dependentSchemas: { card: { properties: { card: { type: "number" } }, required: ["address"] } } },
    [{ address: 1 }, { card: 1, address: 2 }],
    [{ card: 1 }, { card: "x", address: 1 }],
  ],
  [
    "prefixItems",
    { prefixItems: [{ type: "string" }, { type: "number" }] },
    [[], ["a"], ["a", 1], ["a", 1, true]],
    [[1], ["a", "b"]],
  ],
  [
    "prefixItems with items",
    { prefixItems: [{ type: "string" }], items: { type: "number" } },
    [["a"], ["a", 1, 2]],
    [
      ["a", "b"],
      [1, 1],
    ],
  ],
  [
    "prefixItems with items: false",
    { prefixItems: [true, true], items: false },
    [[], [1], [1, 2]],
    [[1, 2, 3]],
  ],
  ["contains", { contains: { type: "number" } }, [["a", 1], "no array"], [[], ["a"]]],
  [
    "minContains, maxContains",
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [
      [1, 1],
      [1, 2, 1, 1],
    ],
    [[1], [1, 1, 1, 1], []],
  ],
  ["minContains: 0", { contains: { const: 1 }, minContains: 0 }, [[], [2], [1]], []],
  [
    "uniqueItems",
    { uniqueItems: true },
    [[], [1, "1", true, null], [{ a: 1 }, { a: 2 }], [[1], [2]]],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[1], [1]],
      [1, 1.0],
    ],
  ],
  ["uniqueItems: false", { uniqueItems: false }, [[1, 1]], []],
  [
    "uniqueItems tells 1 from true and 0 from false",
    { uniqueItems: true },
    [
      [1, true],
      [0, false],
      [[1], [true]],
    ],
    [],
  ],
  ["allOf", { allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2], [0, 4]],
  ["anyOf", { anyOf: [{ type: "string" }, { minimum: 5 }] }, ["x", 5], [4]],
  ["oneOf", { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]],
  ["not", { not: { type: "string" } }, [1, null], ["x"]],
  [
    "if, then, else",
    {
      if: { properties: { kind: { const: "a" } }, required: ["kind"] },
      then: { required: ["a"] },
      else: { required: ["b"] },
    },
    [{ kind: "a", a: 1 }, { b: 1 }, { kind: "x", b: 1 }],
    [{ kind: "a" }, { kind: "b" }, {}],
  ],
  ["if without then", { if: { type: "string" }, else: { type: "number" } }, ["x", 1], [true]],
  ["then without if", { then: { type: "string" } }, [1], []],
  [
    "$ref with siblings",
    { $ref: "#/$defs/s", minLength: 2, $defs: { s: { type: "string" } } },
    ["ab"],
    ["a", 1],
  ],
  [
    "$ref to a pointer with escapes",
    { $ref: "#/$defs/a~1b%25c~0d", $defs: { "a/b%c~d": { type: "number" } } },
    [1],
    ["x"],
  ],
  ["$ref to an anchor", { $ref: "#here", $defs: { a: { $anchor: "here", type: "number" } } }, [1], ["x"]],
  [
    "$ref to an embedded schema",
    { $id: "https://example.com/a", $ref: "b", $defs: { b: { $id: "b", type: "number" } } },
    [1],
    ["x"],
  ],
  [
    "recursion",
    tree,
    [{ value: 1, children: [{ value: 2, children: [] }] }],
    [{ value: 1, children: [{ children: [] }] }, { children: [] }],
  ],
  ["a property called $ref", { properties: { $ref: { type: "string" } } }, [{ $ref: "x" }], [{ $ref: 1 }]],
  [
    "$dynamicRef to the only anchor of the name",
    {
      $dynamicAnchor: "node",
      type: "object",
      properties: { value: { type: "number" }, next: { $dynamicRef: "#node" } },
      additionalProperties: false,
    },
    [{}, { next: { next: { value: 1 } } }],
    [{ next: { wrong: 1 } }, { next: { next: { value: "x" } } }],
  ],
  [
    "$dynamicRef beside $ref",
    {
      $ref: "#/$defs/object",
      $dynamicRef: "#short",
      $defs: { object: { type: "object" }, short: { $dynamicAnchor: "short", maxProperties: 1 } },
    },
    [{ a: 1 }],
    [{ a: 1, b: 1 }, []],
  ],
  [
    "unevaluatedProperties over allOf",
    { allOf: [{ properties: { a: true } }], properties: { b: true }, unevaluatedProperties: false },
    [{ a: 1, b: 2 }],
    [{ a: 1, c: 3 }],
  ],
  [
    "unevaluatedProperties over $ref",
    { $ref: "#/$defs/x", unevaluatedProperties: false, $defs: { x: { properties: { a: true } } } },
    [{ a: 1 }],
    [{ b: 1 }],
  ],
  [
    "unevaluatedProperties over anyOf",
    {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ["a"] },
        { properties: { b: true }, required: ["b"] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
    [{ a: 2, b: 1 }],
  ],
  [
    "unevaluatedProperties over if",
    {
      if: { properties: { a: { const: 1 } }, required: ["a"] },
      then: { properties: { b: true } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, {}],
    [{ a: 2 }, { b: 1 }],
  ],
  [
    "unevaluatedProperties over dependentSchemas",
    {
      properties: { a: true },
      dependentSchemas: { a: { properties: { b: true } } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ],
  [
    "unevaluatedProperties with a schema",
    { properties: { a: true }, unevaluatedProperties: { type: "number" } },
    [{ a: "x", b: 1 }],
    [{ b: "x" }],
  ],
  [
    "unevaluatedProperties does not see through not",
    { not: { not: { properties: { a: true } } }, unevaluatedProperties: false },
    [{}],
    [{ a: 1 }],
  ],
  ["unevaluatedItems", { prefixItems: [true], unevaluatedItems: false }, [[], [1]], [[1, 2]]],
  [
    "unevaluatedItems over allOf",
    { allOf: [{ prefixItems: [true, true] }], unevaluatedItems: { type: "string" } },
    [[1, 2, "x"]],
    [[1, 2, 3]],
  ],
  [
    "unevaluatedItems over contains",
    { contains: { type: "string" }, unevaluatedItems: false },
    [["a", "b"]],
    [["a", 1]],
  ],
  ["uniqueItems does not count as evaluating", { uniqueItems: true, unevaluatedItems: false }, [[]], [[1]]],
  [
    "formats are checked",
    { format: "date-time" },
    ["2024-02-29T23:59:59Z", 1],
    ["2023-02-29T00:00:00Z", "yesterday"],
  ],
  [
    "email, uri, uuid, ipv4",
    {
      properties: {
        e: { format: "email" },
        u: { format: "uri" },
        i: { format: "uuid" },
        a: { format: "ipv4" },
      },
    },
    [{ e: "a@b.co", u: "urn:x:y", i: "123e4567-e89b-12d3-a456-426614174000", a: "192.0.2.1" }],
    [{ e: "a@" }, { u: "no" }, { i: "1" }, { a: "1.2.3" }],
  ],
  ["formats that nobody knows are remarks", { format: "color" }, ["x"], []],
  [
    "formats named like methods are remarks",
    {
      properties: {
        a: { format: "__proto__" },
        b: { format: "hasOwnProperty" },
        c: { format: "constructor" },
      },
    },
    [{ a: "x", b: "x", c: "x" }],
    [],
  ],
  [
    "keywords that nobody knows are remarks",
    { "x-mcp-header": "A", unknown: { type: "string" }, type: "number" },
    [1],
    ["x"],
  ],
  [
    "an id in draft 2020-12 is a remark",
    {
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { id: "A", properties: { b: { $ref: "#/$defs/B" } } }, B: { type: "number" } },
    },
    [{ a: { b: 1 } }],
    [{ a: { b: "x" } }],
  ],

  [
    "draft-07: declared",
    { $schema: DRAFT_7, type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    [{ a: 1 }],
    [{}, { a: "x" }],
  ],
  [
    "draft-07: siblings of $ref are ignored",
    {
      $schema: DRAFT_7,
      properties: { a: { $ref: "#/definitions/s", maxLength: 1 } },
      definitions: { s: { type: "string" } },
    },
    [{ a: "long" }],
    [{ a: 1 }],
  ],
  [
    "draft-07: items as a list, additionalItems",
    { $schema: DRAFT_7, items: [{ type: "string" }], additionalItems: { type: "number" } },
    [["a", 1]],
    [["a", "b"], [1]],
  ],
  [
    "draft-07: dependencies",
    { $schema: DRAFT_7, dependencies: { a: ["b"], c: { required: ["d"] } } },
    [
      { a: 1, b: 1 },
      { c: 1, d: 1 },
    ],
    [{ a: 1 }, { c: 1 }],
  ],
  [
    "draft-07: if, then, else",
    { $schema: DRAFT_7, if: { type: "string" }, then: { minLength: 2 }, else: { type: "number" } },
    ["ab", 1],
    ["a", true],
  ],
  ["draft-07: contains", { $schema: DRAFT_7, contains: { const: 1 } }, [[1]], [[], [2]]],
  [
    "draft-06: as draft-07",
    { $schema: "http://json-schema.org/draft-06/schema#", exclusiveMinimum: 1, const: 2 },
    [2],
    [1, 3],
  ],
  [
    "draft-04: exclusive bounds are flags",
    { $schema: DRAFT_4, minimum: 1, exclusiveMinimum: true },
    [2],
    [1, 0],
  ],
  [
    "draft-04: definitions",
    { $schema: DRAFT_4, $ref: "#/definitions/a", definitions: { a: { type: "integer" } } },
    [1],
    ["x"],
  ],
  [
    "2019-09: $recursiveRef",
    {
      $schema: DRAFT_2019,
      type: "object",
      properties: { next: { $recursiveRef: "#" } },
      additionalProperties: false,
    },
    [{ next: { next: {} } }],
    [{ next: { x: 1 } }],
  ],
  [
    "2019-09: items as a list",
    { $schema: DRAFT_2019, items: [{ type: "string" }], additionalItems: false },
    [["a"]],
    [["a", "b"]],
  ],
];

describe("compileJsonSchema", () => {
  it.each(CASES)("%s", (_, schema, valid, invalid) => {
    const before = JSON.stringify(schema);
    const validate = compileJsonSchema(schema);
    for (const value of valid) expect({ value, problems: validate(value) }).toEqual({ value, problems: [] });
    for (const value of invalid) {
      const problems = validate(value);
      expect({ value, isValid: problems.length === 0 }).toEqual({ value, isValid: false });
      for (const { path, message } of problems) {
        expect(typeof path).toBe("string");
        expect(message).not.toBe("");
      }
    }
    expect(JSON.stringify(schema)).toBe(before);
  });

  it("leaves the schema alone, frozen or shared", () => {
    const id = Object.freeze({ type: "string", minLength: 1 });
    const schema = Object.freeze({
      properties: Object.freeze({ a: id, b: id }),
      $ref: "#/properties/a",
      $comment: "c",
    });
    expect(compileJsonSchema(schema)("")).toHaveLength(1);
    expect(Object.getOwnPropertyNames(schema)).toEqual(["properties", "$ref", "$comment"]);
    expect(Object.getOwnPropertyNames(id)).toEqual(["type", "minLength"]);
  });

  it("names every place that is wrong, once", () => {
    const validate = compileJsonSchema({
      type: "object",
      properties: {
        title: { type: "string" },
        severity: { enum: ["low", "high"] },
        items: {
          type: "array",
          items: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
        },
        "a/b": { type: "object", properties: { "~": { type: "null" } } },
      },
      required: ["title", "owner"],
      additionalProperties: false,
    });
    const problems = validate({
      title: 1,
      severity: "mid",
      items: [{ n: 1 }, { n: 1.5 }, {}],
      "a/b": { "~": 1 },
      extra: 0,
    });
    const byPath = Object.fromEntries(problems.map(({ path, message }) => [path, message]));
    expect(Object.keys(byPath).sort()).toEqual(
      ["a/b.~", "extra", "items[1].n", "items[2].n", "owner", "severity", "title"].sort(),
    );
    expect(byPath["owner"]).toBe("is required");
    expect(byPath["items[2].n"]).toBe("is required");
    expect(byPath["extra"]).toBe("is not allowed");
    expect(byPath["title"]).toBe("expected string, got number");
    expect(byPath["severity"]).toBe('expected one of "low", "high"');
    expect(problems.length).toBe(7);
  });

  it("does not list the members of what is merely nested", () => {
    const deep = {
      properties: { a: { properties: { b: { items: { allOf: [{ $ref: "#/$defs/n" }] } } } } },
      $defs: { n: { type: "number" } },
    };
    const validate = compileJsonSchema(deep);
    expect(validate({ a: { b: [1, "x"] } }).map(({ path }) => path)).toEqual(["a.b[1]"]);
  });

  it("refuses dialects that it does not know", () => {
    expect(() => compileJsonSchema({ $schema: "https://example.com/mine" })).toThrow(
      'unsupported JSON Schema dialect "https://example.com/mine": expected 2020-12, 2019-09, draft-07, draft-06 or draft-04',
    );
  });

  it("follows dynamic references to what was entered first", () => {
    const validate = compileJsonSchema({
      $id: "https://example.com/strict",
      $dynamicAnchor: "node",
      $ref: "tree",
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: "tree",
          $dynamicAnchor: "node",
          properties: { value: true, next: { $dynamicRef: "#node" } },
        },
      },
    });
    expect(validate({ next: { value: 1 } })).toEqual([]);
    expect(validate({ next: { next: { valeu: 1 } } })).toEqual([
      { path: "next.next.valeu", message: "is not allowed" },
    ]);
  });

  it("survives a value that is wrong in hundreds of thousands of places", () => {
    const validate = compileJsonSchema({
      type: "array",
      items: { type: "object", required: ["n"], properties: { n: { type: "number" } } },
    });
    const problems = validate(Array.from({ length: 200_000 }, () => ({ n: "x" })));
    expect(problems[0]).toMatchObject({ path: "[0].n" });
  });

  it("compares the items of long arrays without comparing each with every other", () => {
    const validate = compileJsonSchema({ uniqueItems: true });
    const rows = Array.from({ length: 100_000 }, (_, index) => ({ index, name: `row ${index}` }));
    expect(validate(rows)).toEqual([]);
    expect(validate([...rows, { name: "row 5", index: 5 }])).toEqual([
      { path: "", message: "must not have the same item twice" },
    ]);
  });

  it("gives up on a schema that multiplies itself, rather than on the process", () => {
    const again = { properties: { next: { $ref: "#/$defs/node" } } };
    const validate = compileJsonSchema({
      $ref: "#/$defs/node",
      $defs: {
        node: {
          anyOf: [
            { ...again, required: ["a"] },
            { ...again, required: ["b"] },
          ],
        },
      },
    });
    let value = {};
    for (let depth = 0; depth < 60; depth++) value = { next: value };
    expect(() => validate(value)).toThrow(/validation was given up after \d+ steps/);
  });

  it.each([
    ["pattern", { pattern: "^(a+)+$" }, `${"a".repeat(60)}b`],
    ["patternProperties", { patternProperties: { "(a|aa)+$": true } }, { [`${"a".repeat(60)}b`]: 1 }],
    ["a pattern deep inside", { items: { anyOf: [{ pattern: "^(.*)*x$" }] } }, ["y".repeat(60)]],
  ])("gives up %s that would take for ever, and goes on with the next", (_what, schema, value) => {
    const validate = compileJsonSchema(schema);
    const began = performance.now();
    expect(() => validate(value)).toThrow(`validation was given up after ${MAX_VALIDATION_MS} ms`);
    expect(performance.now() - began).toBeLessThan(MAX_VALIDATION_MS + 1_500);
    expect(validate(7)).toEqual([]);
  });

  it.each([
    ["^[a-z]+$", false],
    ["^\\d{4}-\\d{2}$", false],
    ["^a(b|c)d{1,20}$", false],
    ["[a-z]+$", true],
    ["^(a+)+$", true],
    ["^(ab){3}$", true],
    ["^(?:a|b)*$", true],
    ["^.*=.*$", true],
    ["^a{1,999}a{1,999}$", true],
    ["^(a)\\1$", true],
    ["^\\(\\)[*+)]$", false],
  ])("says of %j whether it may take long: %j", (pattern, slow) => {
    expect(maySlowDown(pattern)).toBe(slow);
  });

  it("takes large values without giving up", () => {
    const validate = compileJsonSchema({
      type: "array",
      items: {
        oneOf: Array.from({ length: 20 }, (_, kind) => ({
          properties: { kind: { const: kind } },
          required: ["kind"],
        })),
      },
    });
    expect(validate(Array.from({ length: 20_000 }, (_, index) => ({ kind: index % 20 })))).toEqual([]);
  });

  it("names what is wrong with the alternative that came closest", () => {
    const validate = compileJsonSchema({
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "mail" }, to: { type: "string" } },
          required: ["kind", "to"],
        },
        {
          type: "object",
          properties: {
            kind: { const: "call" },
            number: { type: "object", properties: { country: { type: "integer" } } },
          },
          required: ["kind", "number"],
        },
        { type: "null" },
      ],
    });
    expect(validate({ kind: "call", number: { country: "49" } })).toEqual([
      { path: "", message: "fits none of 3 alternatives; the closest has these problems:" },
      { path: "number.country", message: "expected integer, got string" },
    ]);
    expect(validate({ kind: "call", number: {}, extra: 1 })).toEqual([]);
    const both = compileJsonSchema({ oneOf: [{ minimum: 1 }, { minimum: 2 }] });
    expect(both(3)).toEqual([
      { path: "", message: "must fit exactly one of 2 alternatives, and fits several" },
    ]);
  });

  it("does not let a crafted string keep it busy", () => {
    const formats = [
      "url",
      "uri",
      "uri-reference",
      "uri-template",
      "email",
      "hostname",
      "ipv6",
      "date-time",
      "duration",
      "json-pointer",
      "regex",
    ];
    const strings = [
      `http://${"a".repeat(50_000)}!`,
      `a@${"a.".repeat(50_000)}!`,
      ":".repeat(50_000),
      `{a${".a".repeat(50_000)}`,
      "/~".repeat(50_000),
    ];
    for (const format of formats) {
      const validate = compileJsonSchema({ format });
      for (const text of strings) expect(validate(text).length).toBeLessThanOrEqual(1);
    }
  });

  it("takes names that no URI can hold", () => {
    const validate = compileJsonSchema({ type: "object", additionalProperties: { type: "number" } });
    expect(validate({ "\ud800": 1, "%": 1, "/": 1 })).toEqual([]);
    expect(validate({ "%41~1": "x" })).toEqual([{ path: "%41~1", message: "expected number, got string" }]);
  });

  it.each<[string, JsonSchema, unknown, string]>([
    ["type", { type: ["string", "null"] }, [], "expected string or null, got array"],
    ["null", { type: "object" }, null, "expected object, got null"],
    ["enum", { enum: ["a", 1, null] }, "b", 'expected one of "a", 1, null'],
    ["const", { const: { a: 1 } }, {}, 'expected {"a":1}'],
    ["minLength", { minLength: 1 }, "", "must have at least 1 character"],
    ["maxLength", { maxLength: 2 }, "abc", "must have at most 2 characters"],
    ["pattern", { pattern: "^a" }, "b", "must match the pattern ^a"],
    ["format", { format: "date" }, "soon", "must be a valid date"],
    ["minimum", { minimum: 1 }, 0, "must be at least 1"],
    ["exclusiveMaximum", { exclusiveMaximum: 1 }, 1, "must be less than 1"],
    ["multipleOf", { multipleOf: 0.1 }, 0.15, "must be a multiple of 0.1"],
    ["minItems", { minItems: 2 }, [1], "must have at least 2 items"],
    ["maxProperties", { maxProperties: 1 }, { a: 1, b: 2 }, "must have at most 1 property"],
    ["contains", { contains: { type: "string" } }, [1], "must contain at least 1 fitting item, has 0"],
    ["not", { not: {} }, 1, "must not fit the schema under not"],
  ])("says what %s expects", (_, schema, value, message) => {
    expect(compileJsonSchema(schema)(value)).toEqual([{ path: "", message }]);
  });

  it.each<[string, JsonSchema, unknown, string, string]>([
    ["dependentRequired", { dependentRequired: { a: ["b"] } }, { a: 1 }, "b", "is required together with a"],
    [
      "propertyNames",
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      "ab",
      "is not an allowed name: must have at most 1 character",
    ],
    ["unevaluatedItems", { prefixItems: [true], unevaluatedItems: false }, [1, 2], "[1]", "is not allowed"],
  ])("says what %s expects, and where", (_, schema, value, path, message) => {
    expect(compileJsonSchema(schema)(value)).toEqual([{ path, message }]);
  });
});
