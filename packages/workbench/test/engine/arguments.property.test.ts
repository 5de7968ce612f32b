import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeArguments } from "../../src/engine/arguments.js";
import { UsageError } from "../../src/engine/usage-error.js";

type Json = Record<string, unknown>;

/** Ajv, which judges here, knows no property called "__proto__". */
const NAMES = ["a", "b", "c.d", "constructor", "null"] as const;

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constant({ type: "string" }),
  fc.constant({ type: "boolean" }),
  fc.constant({ type: "null" }),
  fc.record({ type: fc.constant("string"), minLength: fc.nat(3), maxLength: fc.integer({ min: 2, max: 8 }) }),
  fc.record({
    type: fc.constantFrom("integer", "number"),
    minimum: fc.integer({ min: -9, max: 5 }),
    maximum: fc.integer({ min: 0, max: 99 }),
  }),
  fc.record({ type: fc.constant("integer"), multipleOf: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    type: fc.uniqueArray(fc.constantFrom("string", "integer", "number", "boolean", "null"), { minLength: 1 }),
  }),
  fc.record({
    enum: fc.uniqueArray(fc.constantFrom<unknown>("x", "1", 1, true, null, "null", 2.5), { minLength: 1 }),
  }),
  fc.record({ const: fc.constantFrom<unknown>("x", 1, false, null) }),
  fc.constant({}),
);

const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthIdentifier: "schema" },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.constantFrom({ $ref: "#/$defs/one" }, { $ref: "#/$defs/two" }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant("array"),
        items: tie("schema"),
        minItems: fc.nat(1),
        maxItems: fc.integer({ min: 1, max: 3 }),
        uniqueItems: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: objectOf(tie("schema")) },
  ),
}));

function objectOf(member: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.record(
    {
      type: fc.constant("object"),
      properties: fc
        .array(fc.tuple(fc.constantFrom(...NAMES), member), { maxLength: 3 })
        .map((all) => Object.fromEntries(all)),
      required: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 1 }),
      additionalProperties: fc.oneof(fc.boolean(), member),
    },
    { requiredKeys: ["type", "properties"] },
  );
}

const root = fc
  .tuple(objectOf(schema), scalar, scalar)
  .map(([object, one, two]) => ({ ...object, $defs: { one, two } }));

const text = fc.oneof(
  fc.constantFrom(
    "",
    "x",
    "1",
    "5",
    "-3",
    "2.5",
    "1e1",
    "null",
    "true",
    "false",
    "xyz",
    "[1,2]",
    '["x"]',
    "[]",
    '{"a":1}',
    "{}",
  ),
  fc.json({ maxDepth: 2 }),
  fc.string({ maxLength: 6 }),
);
const pair = fc.record({
  name: fc.oneof(
    fc.constantFrom(...NAMES),
    fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES)).map((both) => both.join(".")),
  ),
  text,
  raw: fc.constant(false),
});

describe("typed arguments", () => {
  it("always validate, or are refused with the argument's name", () => {
    const seen = { typed: 0, refused: 0 };
    const ajv = new Ajv2020({ strict: false, validateSchema: false, ownProperties: true });
    fc.assert(
      fc.property(root, fc.array(pair, { maxLength: 4 }), (inputSchema, pairs) => {
        let value: Json;
        try {
          value = typeArguments("tool", inputSchema, { pairs });
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          expect((error as UsageError).problems.length).toBeGreaterThan(0);
          seen.refused += 1;
          return;
        }
        seen.typed += 1;
        // What is sent is JSON, so that is what must be valid.
        const sent: unknown = JSON.parse(JSON.stringify(value));
        const validate = ajv.compile(inputSchema);
        expect(validate(sent), JSON.stringify([inputSchema, sent, validate.errors])).toBe(true);
      }),
      { numRuns: 500 },
    );
    // A property that only ever sees one side of it proves nothing.
    expect(seen.typed).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(50);
  });

  it("hold exactly the value that was written", () => {
    const written: fc.Arbitrary<[Json, unknown, string]> = fc.oneof(
      fc.string().map((value): [Json, unknown, string] => [{ type: "string" }, value, value]),
      fc
        .maxSafeInteger()
        .map((value): [Json, unknown, string] => [{ type: "integer" }, value, String(value)]),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((value): [Json, unknown, string] => [{ type: "number" }, value, JSON.stringify(value)])
        .filter(([, value, json]) => Number.isSafeInteger(value) || !/^-?\d+$/.test(json)),
      fc.boolean().map((value): [Json, unknown, string] => [{ type: "boolean" }, value, String(value)]),
      fc
        .array(fc.string())
        .map((value): [Json, unknown, string] => [
          { type: "array", items: { type: "string" } },
          value,
          JSON.stringify(value),
        ]),
      fc
        .dictionary(fc.string(), fc.maxSafeInteger())
        .map((value): [Json, unknown, string] => [
          { type: "object", additionalProperties: { type: "integer" } },
          JSON.parse(JSON.stringify(value)),
          JSON.stringify(value),
        ]),
    );
    fc.assert(
      fc.property(written, ([inner, value, json]) => {
        const inputSchema = { type: "object", properties: { a: inner } };
        const typed = typeArguments("tool", inputSchema, { pairs: [{ name: "a", text: json, raw: false }] });
        expect(typed).toStrictEqual({ a: Object.is(value, -0) ? 0 : value });
      }),
    );
  });
});
