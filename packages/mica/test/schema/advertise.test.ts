/** What is advertised of schemas of every kind: lean JSON Schema, or an error that names the tool and the place. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { advertise } from "../../src/schema/advertise.js";
import type { Schema } from "../../src/schema/standard.js";

const input = (schema: Schema) => advertise(schema, "input", 'tool "t" input');
const output = (schema: Schema) => advertise(schema, "output", 'tool "t" output');
const property = (schema: z.ZodType) =>
  (input(z.object({ p: schema })) as { properties: { p: unknown } }).properties.p;

describe("the same from every library", () => {
  const expected = {
    type: "object",
    properties: {
      title: { type: "string" },
      count: { type: "integer", minimum: 1 },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["title", "count"],
  };

  it.each<[string, Schema]>([
    ["zod", z.object({ title: z.string(), count: z.int().min(1), tags: z.array(z.string()).optional() })],
    [
      "valibot",
      toStandardJsonSchema(
        v.object({
          title: v.string(),
          count: v.pipe(v.number(), v.integer(), v.minValue(1)),
          tags: v.optional(v.array(v.string())),
        }),
      ),
    ],
    ["arktype", type({ title: "string", count: "number.integer >= 1", "tags?": "string[]" })],
    ["JSON Schema", expected],
  ])("%s", (_, schema) => {
    const advertised = input(schema) as typeof expected;
    expect({ ...advertised, required: [...advertised.required].sort().reverse() }).toEqual(expected);
  });
});

describe("leanness", () => {
  it("adds nothing: no $schema, no integer bounds, no property names, nothing of the library", () => {
    const schema = z.object({ n: z.int(), r: z.record(z.string(), z.number()), s: z.string().min(1) });
    expect(input(schema)).toEqual({
      type: "object",
      properties: {
        n: { type: "integer" },
        r: { type: "object", additionalProperties: { type: "number" } },
        s: { type: "string", minLength: 1 },
      },
      required: ["n", "r", "s"],
    });
  });

  it.each<[string, z.ZodType]>([
    ["date-time", z.iso.datetime()],
    ["date", z.iso.date()],
    ["duration", z.iso.duration()],
    ["email", z.email()],
    ["uuid", z.uuid()],
    ["uri", z.url()],
    ["ipv4", z.ipv4()],
    ["ipv6", z.ipv6()],
    ["hostname", z.hostname()],
  ])("says %s without the pattern that spells it out", (format, schema) => {
    expect(property(schema)).toEqual({ type: "string", format });
  });

  it("keeps a pattern that says more than the format beside it", () => {
    expect(property(z.email({ pattern: /@example\.com$/ }))).toEqual({
      type: "string",
      format: "email",
      pattern: "@example\\.com$",
    });
    expect(property(z.uuidv4())).toMatchObject({
      format: "uuid",
      pattern: expect.stringContaining("4") as string,
    });
  });

  it("leaves out formats that are none", () => {
    expect(property(z.string().startsWith("ab"))).toEqual({ type: "string", pattern: "^ab.*" });
    expect(property(z.string().endsWith("z"))).toEqual({ type: "string", pattern: ".*z$" });
    expect(property(z.string().includes("x"))).toEqual({ type: "string", pattern: "x" });
    expect(property(z.string().lowercase())).toEqual({ type: "string", pattern: "^[^A-Z]*$" });
  });

  it("does not make outputs strict that nobody made strict", () => {
    const schema = z.object({
      plain: z.object({ a: z.string().default("x") }),
      strict: z.strictObject({ a: z.string() }),
      list: z.array(z.object({ n: z.int() })),
    });
    expect(output(schema)).toEqual({
      type: "object",
      properties: {
        plain: { type: "object", properties: { a: { type: "string", default: "x" } }, required: ["a"] },
        strict: {
          type: "object",
          properties: { a: { type: "string" } },
          required: ["a"],
          additionalProperties: false,
        },
        list: {
          type: "array",
          items: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
        },
      },
      required: ["plain", "strict", "list"],
    });
  });

  it("keeps what an author wrote, bounds and data included", () => {
    const written = z.object({
      age: z.int().min(0).max(150),
      name: z.string().meta({ title: "Name", description: "Of the person", examples: ["Ada"] }),
      mode: z.enum(["fast", "slow"]).default("fast"),
    });
    expect(input(written)).toEqual({
      type: "object",
      properties: {
        age: { type: "integer", minimum: 0, maximum: 150 },
        name: { type: "string", title: "Name", description: "Of the person", examples: ["Ada"] },
        mode: { type: "string", enum: ["fast", "slow"], default: "fast" },
      },
      required: ["age", "name"],
    });
  });

  it("looks for noise where schemas stand, not in properties of the same name, nor in data", () => {
    const schema = z.object({
      minimum: z.string(),
      pattern: z.string(),
      $schema: z.string(),
      propertyNames: z.object({ type: z.string() }),
      any: z.unknown().meta({ default: { $schema: "x", minimum: Number.MIN_SAFE_INTEGER } }),
      extra: z.string().meta({ "x-ui": { maximum: Number.MAX_SAFE_INTEGER } }),
    });
    const { properties } = input(schema) as { properties: Record<string, Record<string, unknown>> };
    expect(Object.keys(properties)).toEqual([
      "minimum",
      "pattern",
      "$schema",
      "propertyNames",
      "any",
      "extra",
    ]);
    expect(properties["any"]?.["default"]).toEqual({ $schema: "x", minimum: Number.MIN_SAFE_INTEGER });
    expect(properties["extra"]?.["x-ui"]).toEqual({ maximum: Number.MAX_SAFE_INTEGER });
  });

  it("is lean inside of definitions too", () => {
    const Category = z
      .object({
        name: z.string(),
        size: z.int(),
        get children() {
          return z.array(Category);
        },
      })
      .meta({ id: "Category" });
    const advertised = input(z.object({ root: Category }));
    expect(JSON.stringify(advertised)).not.toMatch(/900719|\$schema/);
    expect(advertised).toMatchObject({ $defs: { Category: { properties: { size: { type: "integer" } } } } });
  });

  it("leaves JSON Schema that an author wrote exactly as it is", () => {
    const written = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { n: { type: "integer", minimum: Number.MIN_SAFE_INTEGER } },
      definitions: { unused: true },
    };
    expect(input(written)).toBe(written);
  });
});

describe("what JSON Schema cannot express", () => {
  const Node = z.object({
    get children() {
      return z.array(Node);
    },
    when: z.date(),
  });

  it.each<[string, Schema, string]>([
    [
      "zod, deep inside of an array in an object",
      z.object({ list: z.array(z.object({ inner: z.object({ when: z.date() }) })) }),
      "list[].inner.when: Date",
    ],
    [
      "zod, optional",
      z.object({ list: z.array(z.object({ when: z.date().optional() })).optional() }),
      "list[].when",
    ],
    [
      "zod, in a union",
      z.object({ u: z.union([z.string(), z.object({ big: z.bigint() })]) }),
      "u.big: BigInt",
    ],
    [
      "zod, in a record",
      z.object({ r: z.record(z.string(), z.object({ m: z.map(z.string(), z.string()) })) }),
      "r.*.m",
    ],
    ["zod, in a tuple", z.object({ t: z.tuple([z.string(), z.symbol()]) }), "t[1]: Symbols"],
    [
      "zod, in an intersection",
      z.object({ i: z.intersection(z.object({}), z.object({ s: z.set(z.string()) })) }),
      "i.s",
    ],
    ["zod, in a pipe", z.object({ p: z.object({ d: z.date() }).transform(String) }), "p.d"],
    ["zod, lazily", z.object({ l: z.lazy(() => z.object({ d: z.date() })) }), "l.d"],
    ["zod, beside a cycle", z.object({ tree: Node }), "tree.when"],
    ["zod, at the root", z.date() as never, "the schema: Date"],
    [
      "valibot",
      toStandardJsonSchema(v.object({ list: v.array(v.object({ when: v.optional(v.date()) })) })),
      'list[].when: The "date" schema',
    ],
    [
      "valibot, in a union",
      toStandardJsonSchema(v.object({ u: v.union([v.string(), v.tuple([v.bigint()])]) })),
      "u[0]:",
    ],
    ["arktype", type({ list: type({ when: "Date" }).array() }), "list[].when: JSON has no date"],
    ["arktype, in a tuple", type({ t: ["string", "bigint"] }), "t[1]: JSON has no bigint"],
    ["arktype, a class", type({ "m?": "Map" }), "m: JSON has no Map"],
  ])("%s: is refused with the tool and the path", (_, schema, where) => {
    expect(() => input(schema)).toThrow(TypeError);
    expect(() => input(schema)).toThrow(`tool "t" input: JSON Schema cannot express ${where}`);
  });

  it("keeps the library's own error as the cause", () => {
    try {
      input(z.object({ d: z.date() }));
      expect.unreachable();
    } catch (error) {
      expect((error as Error).cause).toBeInstanceOf(Error);
    }
  });

  it("depends on the direction", () => {
    const schema = z.object({ when: z.string().transform((text) => new Date(text)) });
    expect(input(schema)).toEqual({
      type: "object",
      properties: { when: { type: "string" } },
      required: ["when"],
    });
    expect(() => output(schema)).toThrow('tool "t" output: JSON Schema cannot express when: Transforms');
  });

  it("keeps what arktype can express of narrowed, parsed and optional values", () => {
    const schema = type({
      even: type("number").narrow((n) => n % 2 === 0),
      when: "string.date.parse",
      "u?": "string|undefined",
    });
    expect(input(schema)).toMatchObject({
      properties: { even: { type: "number" }, when: { type: "string" } },
    });
  });

  it("says how valibot schemas are wrapped, and what other libraries need", () => {
    expect(() => input(v.object({ a: v.string() }) as never)).toThrow(
      'tool "t" input: this valibot schema cannot describe itself as JSON Schema; wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema',
    );
    const own = {
      "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) },
    } as const;
    expect(() => input(own)).toThrow(/this mine schema cannot describe itself .* give a JSON Schema object/);
  });
});

describe("an object of schemas", () => {
  it.each<[string, unknown, string]>([
    ["zod", { a: z.string(), b: z.number() }, "z.object({ a: ... })"],
    ["valibot", { a: toStandardJsonSchema(v.string()) }, "v.object({ a: ... })"],
    ["arktype", { a: type("string") }, "type({ a: ... })"],
  ])("of %s is told from a schema of an object", (_, shape, hint) => {
    expect(() => input(shape as Schema)).toThrow(
      new TypeError(
        `tool "t" input: got an object of schemas (a, ...), expected a schema of an object: ${hint}`,
      ),
    );
  });
});
