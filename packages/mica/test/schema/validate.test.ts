/** One way to validate, whatever the schema: values come through, and problems name their place. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Schema } from "../../src/schema/standard.js";
import { createValidator, describeProblems } from "../../src/schema/validate.js";

const jsonSchema = {
  type: "object",
  properties: {
    title: { type: "string" },
    attendees: {
      type: "array",
      items: { type: "object", properties: { email: { type: "string" } }, required: ["email"] },
    },
    count: { type: "integer", minimum: 1 },
  },
  required: ["title", "attendees", "count"],
};

const KINDS: [string, Schema][] = [
  [
    "zod",
    z.object({
      title: z.string(),
      attendees: z.array(z.object({ email: z.string() })),
      count: z.int().min(1),
    }),
  ],
  [
    "valibot",
    toStandardJsonSchema(
      v.object({
        title: v.string(),
        attendees: v.array(v.object({ email: v.string() })),
        count: v.pipe(v.number(), v.integer(), v.minValue(1)),
      }),
    ),
  ],
  [
    "arktype",
    type({ title: "string", attendees: type({ email: "string" }).array(), count: "number.integer >= 1" }),
  ],
  ["JSON Schema", jsonSchema],
];

describe.each(KINDS)("%s", (_, schema) => {
  const validate = createValidator(schema);

  it("lets a valid value through", async () => {
    const value = { title: "Review", attendees: [{ email: "a@b.co" }], count: 2 };
    expect(await validate(value)).toMatchObject({ value });
  });

  it("names every invalid member with its path", async () => {
    const { problems } = await validate({
      title: 7,
      attendees: [{ email: "ok" }, { email: null }, {}],
      count: 0,
    });
    expect(problems?.map(({ path }) => path).sort()).toEqual(
      ["attendees[1].email", "attendees[2].email", "count", "title"].sort(),
    );
    const text = describeProblems(problems ?? []);
    expect(text.split("\n")).toHaveLength(4);
    expect(text).toMatch(/^attendees\[1\]\.email: ./m);
  });

  it("names members that are missing", async () => {
    const { problems } = await validate({});
    expect(problems?.map(({ path }) => path).sort()).toEqual(["attendees", "count", "title"]);
  });

  it("has a problem with what is no object", async () => {
    for (const value of [null, "x", 5, true]) {
      const { problems } = await validate(value);
      expect(problems).not.toHaveLength(0);
      expect(problems?.[0]?.path).toBe("");
    }
  });
});

describe("createValidator", () => {
  it("returns what the library made of the value", async () => {
    const validate = createValidator(z.object({ n: z.coerce.number(), d: z.string().default("x") }));
    expect(await validate({ n: "5", extra: 1 })).toMatchObject({ value: { n: 5, d: "x" } });
  });

  it("is synchronous where the schema is", () => {
    expect(createValidator(z.string())("x")).not.toBeInstanceOf(Promise);
    expect(createValidator(type("string"))("x")).not.toBeInstanceOf(Promise);
  });

  it("loads what validates JSON Schema at first use, and is synchronous from then on", async () => {
    const validate = createValidator({ type: "string" });
    const first = [validate("x"), validate(1)];
    expect(first[0]).toBeInstanceOf(Promise);
    expect(await Promise.all(first)).toMatchObject([{ value: "x" }, { problems: [{ path: "" }] }]);
    expect(validate("y")).toEqual({ value: "y" });
  });

  it("waits for schemas that are not", async () => {
    const validate = createValidator(z.string().refine(async (text) => text !== "taken", "is taken"));
    expect(await validate("free")).toMatchObject({ value: "free" });
    expect((await validate("taken")).problems).toEqual([{ path: "", message: "is taken" }]);
  });

  it("validates JSON Schema by the dialect it declares", async () => {
    const validate = createValidator({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { pair: { items: [{ type: "string" }], additionalItems: false } },
    });
    expect(await validate({ pair: ["a"] })).toMatchObject({ value: { pair: ["a"] } });
    expect((await validate({ pair: ["a", "b"] })).problems).toHaveLength(1);
  });
});

describe("describeProblems", () => {
  it("writes one line each, and counts what is beyond a hundred", () => {
    const problems = Array.from({ length: 250 }, (_, index) => ({
      path: `list[${index}]`,
      message: "is wrong",
    }));
    const lines = describeProblems(problems).split("\n");
    expect(lines).toHaveLength(101);
    expect(lines[99]).toBe("list[99]: is wrong");
    expect(lines[100]).toBe("... and 150 more");
    expect(describeProblems(problems.slice(0, 100))).not.toContain("more");
    expect(describeProblems([{ path: "", message: "Required" }])).toBe("Required");
  });
});
