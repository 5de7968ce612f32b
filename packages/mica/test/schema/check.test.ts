// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
/** JSON Schema given as data: what is refused at registration, and how the place is named. */
import { describe, expect, it } from "vitest";
import { checkJsonSchema, SCHEMA_LIMITS, schemaProblems } from "../../src/schema/check.js";

const check = (schema: unknown) => checkJsonSchema(schema, 'tool "t" input');
const inObject = (p: unknown) => ({ type: "object", properties: { p } });

describe("checkJsonSchema", () => {
  it.each<[string, unknown]>([
    ["an empty schema", {}],
    [
      "boolean subschemas",
      { properties: { yes: true, no: false }, items: false, additionalProperties: false },
    ],
    ["an object without a prototype", Object.assign(Object.create(null) as object, { type: "object" })],
    [
      "every kind of keyword",
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: "https://example.com/schema",
        $comment: "c",
        title: "t",
        description: "d",
        type: ["object", "null"],
        required: ["a"],
        dependentRequired: { a: ["b"] },
        dependentSchemas: { a: { minProperties: 1 } },
        patternProperties: { "^x-\\p{L}": { type: "string", pattern: "^\\d+$" } },
        propertyNames: { maxLength: 10 },
        allOf: [{ not: { const: { any: "thing" } } }],
        if: { required: ["a"] },
        then: { maxProperties: 3 },
        else: true,
        properties: {
          list: {
            prefixItems: [{ type: "string" }],
            items: false,
            contains: true,
            minContains: 0,
            uniqueItems: true,
          },
          number: {
            multipleOf: 0.5,
            minimum: -1,
            exclusiveMaximum: 5,
            default: null,
            examples: [1],
            deprecated: true,
          },
          anchored: { $ref: "#here" },
          pointed: { $ref: "#/$defs/a~1b%20c" },
        },
        $defs: { here: { $anchor: "here", enum: [1, "a", null] }, "a/b c": true },
        "x-own": { minimum: "not looked at" },
      },
    ],
    [
      "draft-07",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { a: { $id: "#frag", type: "string" } },
        properties: {
          pair: { items: [{ $ref: "#frag" }, { $ref: "#/definitions/a" }], additionalItems: false },
        },
        dependencies: { a: ["b"], c: { required: ["d"] } },
      },
    ],
    ["draft-04", { $schema: "http://json-schema.org/draft-04/schema#", minimum: 0, exclusiveMinimum: true }],
    [
      "a recursive schema",
      { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } },
    ],
    [
      "an absolute reference to itself",
      { $id: "https://example.com/a", properties: { a: { $ref: "https://example.com/a" } } },
    ],
    [
      "a relative reference to an embedded schema",
      {
        $id: "https://example.com/root",
        properties: { a: { $ref: "item#/$defs/x" } },
        $defs: {
          item: { $id: "item", $defs: { x: { type: "string" } }, properties: { own: { $ref: "#/$defs/x" } } },
        },
      },
    ],
    [
      "properties named like keywords",
      { properties: { $ref: { type: "string" }, pattern: { type: "string" }, type: true, required: {} } },
    ],
    [
      "a property called __proto__",
      JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}'),
    ],
  ])("takes %s", (_, schema) => {
    expect(() => check(schema)).not.toThrow();
  });

  const cycle: Record<string, unknown> = { type: "object" };
  cycle["properties"] = { self: cycle };

  it.each<[string, unknown, string]>([
    ["a string", "object", 'a schema must be a Standard Schema or a JSON Schema object, got "object"'],
    ["null", null, "a schema must be a Standard Schema or a JSON Schema object, got null"],
    ["an array", [], "got []"],
    ["undefined", undefined, "got undefined"],
    ["a function", () => {}, "got function"],
    ["a bigint", inObject({ minimum: 1n }), "properties.p.minimum is not JSON: the bigint 1"],
    ["a function inside", inObject({ default: () => 1 }), "properties.p.default is not JSON: function"],
    [
      "undefined inside",
      inObject({ description: undefined }),
      "properties.p.description is not JSON: undefined",
    ],
    ["a symbol", inObject({ const: Symbol("x") }), "properties.p.const is not JSON: symbol"],
    ["a date", inObject({ default: new Date(0) }), "properties.p.default is not JSON: a Date"],
    ["a map", inObject({ enum: [new Map()] }), "properties.p.enum.0 is not JSON: a Map"],
    ["NaN", inObject({ minimum: Number.NaN }), "properties.p.minimum is not JSON: NaN"],
    [
      "infinity",
      inObject({ maximum: Number.POSITIVE_INFINITY }),
      "properties.p.maximum is not JSON: Infinity",
    ],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is refused
    ["a hole in an array", inObject({ enum: [1, , 2] }), "properties.p.enum.1 is not JSON: undefined"],
    ["an object that contains itself", cycle, "properties.self refers to itself; use $ref"],
    ["a type that is none", inObject({ type: "text" }), "properties.p: type must be one of string, number,"],
    ["no types", inObject({ type: [] }), "properties.p: type must be"],
    ["a list with a type that is none", inObject({ type: ["string", "any"] }), "properties.p: type must be"],
    ['a type that is null, not "null"', inObject({ type: null }), "got null"],
    [
      "a bad regular expression",
      inObject({ pattern: "(" }),
      "properties.p: pattern must be a regular expression",
    ],
    ["a pattern without the flag u", inObject({ pattern: "\\@" }), "valid with the flag u"],
    ["a pattern that is a number", inObject({ pattern: 5 }), "pattern must be a regular expression, got 5"],
    [
      "a bad pattern as a name",
      { patternProperties: { "[": {} } },
      "the schema: patternProperties must be a regular",
    ],
    [
      "required: true",
      inObject({ required: true }),
      "properties.p: required must be an array of property names, got true",
    ],
    [
      "required with a number",
      { required: ["a", 1] },
      "the schema: required must be an array of property names",
    ],
    [
      "a bound that is a string",
      inObject({ minimum: "0" }),
      'properties.p: minimum must be a number, got "0"',
    ],
    [
      "a negative length",
      inObject({ maxLength: -1 }),
      "properties.p: maxLength must be a whole number from 0, got -1",
    ],
    [
      "a length of 1.5",
      inObject({ minItems: 1.5 }),
      "properties.p: minItems must be a whole number from 0, got 1.5",
    ],
    [
      "a multiple of 0",
      inObject({ multipleOf: 0 }),
      "properties.p: multipleOf must be a number above 0, got 0",
    ],
    [
      "an exclusive bound of draft-04",
      inObject({ exclusiveMinimum: true }),
      "exclusiveMinimum must be a number, got true",
    ],
    ["an enum that is an object", inObject({ enum: { a: 1 } }), "properties.p: enum must be an array"],
    [
      "a subschema that is a string",
      { properties: { p: "string" } },
      'properties.p must be a schema, got "string"',
    ],
    [
      "properties that are an array",
      { properties: [{ type: "string" }] },
      "the schema: properties must be an object",
    ],
    ["an empty anyOf", inObject({ anyOf: [] }), "properties.p: anyOf must be a non-empty array, got []"],
    [
      "an anyOf that is an object",
      inObject({ anyOf: {} }),
      "properties.p: anyOf must be a non-empty array, got {}",
    ],
    [
      "a tuple of an earlier draft",
      inObject({ items: [{}] }),
      "properties.p: items must be a schema (a list of schemas is prefixItems)",
    ],
    [
      "an error deep inside",
      { anyOf: [true, { items: { $defs: { x: { not: { type: "x" } } } } }] },
      "anyOf[1].items.$defs.x.not: type must be",
    ],
    [
      "a dangling reference",
      inObject({ $ref: "#/$defs/missing" }),
      'properties.p: $ref "#/$defs/missing" points at nothing',
    ],
    [
      "a reference into a prototype",
      inObject({ $ref: "#/constructor" }),
      '$ref "#/constructor" points at nothing',
    ],
    ["a dangling anchor", inObject({ $ref: "#nowhere" }), '$ref "#nowhere" points at nothing'],
    ["a reference that cannot be decoded", inObject({ $ref: "#/%E0%A4%A" }), "leaves the document"],
    [
      "a remote reference",
      inObject({ $ref: "https://example.com/schema.json" }),
      'properties.p: $ref "https://example.com/schema.json" leaves the document',
    ],
    ["a file", inObject({ $ref: "file:///etc/passwd" }), "leaves the document"],
    ["a relative file", inObject({ $ref: "other.json#/a" }), "leaves the document"],
    ["a reference that is a number", inObject({ $ref: 1 }), "$ref must be a string, got 1"],
    [
      "a dynamic reference to nothing",
      inObject({ $dynamicRef: "#node" }),
      '$dynamicRef "#node" points at nothing',
    ],
    ["a reference to itself", { type: "object", $ref: "#" }, "refers back to itself without end"],
    [
      "references in a circle",
      {
        $ref: "#/$defs/a",
        $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } },
      },
      "refers back to itself without end",
    ],
    [
      "an unknown dialect",
      { $schema: "https://example.com/my-dialect" },
      'unsupported JSON Schema dialect "https://example.com/my-dialect" at $schema',
    ],
    ["draft-03", { $schema: "http://json-schema.org/draft-03/schema#" }, "unsupported JSON Schema dialect"],
    ["a dialect that is a number", { $schema: 7 }, "unsupported JSON Schema dialect 7"],
  ])("refuses %s", (_, schema, message) => {
    expect(() => check(schema)).toThrow(TypeError);
    expect(() => check(schema)).toThrow(message);
    expect(() => check(schema)).toThrow(/^tool "t" input: /);
  });

  it("says which base a reference within an embedded schema starts from", () => {
    const embedded = { $id: "https://example.com/item", $ref: "#/$defs/x" };
    const schema = { $defs: { x: { type: "string" }, item: embedded } };
    // The x next to it is in another resource.
    expect(() => check(schema)).toThrow("$defs.item: $ref");
  });

  it("bounds depth and number", () => {
    const nest = (levels: number) => {
      let schema: Record<string, unknown> = { type: "string" };
      for (let level = 1; level < levels; level++) schema = { not: schema };
      return schema;
    };
    expect(() => check(nest(SCHEMA_LIMITS.maxDepth))).not.toThrow();
    expect(() => check(nest(SCHEMA_LIMITS.maxDepth + 1))).toThrow("is nested deeper than 100 levels");
    expect(() => check(nest(100_000))).toThrow("is nested deeper than 100 levels");
    const wide = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({})) });
    expect(() => check(wide(SCHEMA_LIMITS.maxSubschemas - 1))).not.toThrow();
    expect(() => check(wide(SCHEMA_LIMITS.maxSubschemas))).toThrow("has more than 10000 subschemas");
  });

  it("shows long values only in part", () => {
    expect(() => check(inObject({ type: "x".repeat(10_000) }))).toThrow(/^.{50,300}$/);
  });
});

describe("schemaProblems", () => {
  it("names all that is wrong, each by its kind and place", () => {
    const problems = schemaProblems({
      type: "objekt",
      properties: {
        a: { $ref: "#/$defs/gone" },
        b: { $ref: "https://example.com/b" },
        c: 5,
        d: { enum: "x" },
      },
    });
    expect(problems.map(({ kind, path }) => [kind, path])).toEqual([
      ["keyword", ""],
      ["nowhere", "properties.a"],
      ["outside", "properties.b"],
      ["not_a_schema", "properties.c"],
      ["keyword", "properties.d"],
    ]);
  });

  it.each<[string, unknown, string]>([
    ["null", null, "not_a_schema"],
    ["an array", [], "not_a_schema"],
    ["no JSON", { default: 1n }, "not_json"],
    ["an unknown dialect", { $schema: "https://example.com/dialect" }, "dialect"],
    ["a reference to itself", { allOf: [{ $ref: "#" }] }, "endless"],
    ["too many subschemas", { allOf: Array.from({ length: 10_001 }, () => ({})) }, "too_large"],
  ])("says what is wrong with %s, once", (_, schema, kind) => {
    expect(schemaProblems(schema).map((problem) => problem.kind)).toEqual([kind]);
  });

  it("finds nothing in a valid schema", () => {
    expect(schemaProblems({ type: "object", properties: { a: true } })).toEqual([]);
  });
});
