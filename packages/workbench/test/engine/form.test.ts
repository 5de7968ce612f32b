/** Forms as servers send them, and what people and scripts give for their fields. */
import type { ElicitationSchema } from "mica-mcp/client";
import { describe, expect, it } from "vitest";
import { readFieldText } from "../../src/engine/field-text.js";
import { expectedOf, type FormField, looksSecret, readForm } from "../../src/engine/form.js";

const titled = (...values: string[]) => values.map((value) => ({ const: value, title: value.toUpperCase() }));
function fieldOf(schema: unknown, name = "f", required?: string[]): FormField {
  const form = { type: "object", properties: { [name]: schema }, ...(required && { required }) };
  return readForm(form as ElicitationSchema)[0] as FormField;
}

describe("a form", () => {
  it("has its fields in order, with what is required marked", () => {
    const form = {
      type: "object",
      properties: { b: { type: "string", title: "Bee", description: "A bee." }, a: { type: "boolean" } },
      required: ["a", "ghost", 7],
    } as unknown as ElicitationSchema;
    const fields = readForm(form);
    expect(fields.map(({ name, kind, required }) => [name, kind, required])).toStrictEqual([
      ["b", "text", false],
      ["a", "boolean", true],
      ["ghost", "text", true],
    ]);
    expect(fields[0]).toMatchObject({ title: "Bee", description: "A bee." });
  });

  it("may call a field whatever it likes", () => {
    const form = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"},"toString":true}}',
    );
    expect(readForm(form).map(({ name, kind }) => [name, kind])).toStrictEqual([
      ["__proto__", "integer"],
      ["toString", "text"],
    ]);
  });

  it.each<[string, unknown, FormField["kind"], string]>([
    ["text", { type: "string" }, "text", "text"],
    [
      "text of some length",
      { type: "string", minLength: 3, maxLength: 50 },
      "text",
      "text, 3 to 50 characters",
    ],
    ["text of one length", { type: "string", minLength: 3, maxLength: 3 }, "text", "text, 3 characters"],
    ["text of least length", { type: "string", minLength: 3 }, "text", "text, at least 3 characters"],
    [
      "an address",
      { type: "string", format: "email", maxLength: 9 },
      "text",
      "an email address, at most 9 characters",
    ],
    ["a URL", { type: "string", format: "uri" }, "text", "a URL"],
    ["a date", { type: "string", format: "date" }, "text", "a date, like 2026-07-28"],
    ["a time", { type: "string", format: "date-time" }, "text", "a date and time, like 2026-07-28T09:00:00Z"],
    ["a format of nobody's", { type: "string", format: "phone" }, "text", "text"],
    ["a number", { type: "number", minimum: 0, maximum: 1 }, "number", "a number from 0 to 1"],
    ["an integer", { type: "integer", maximum: 9 }, "integer", "an integer of at most 9"],
    ["a number from somewhere", { type: "number", minimum: -1 }, "number", "a number of at least -1"],
    ["yes or no", { type: "boolean" }, "boolean", "true or false"],
    ["a choice", { type: "string", enum: ["a", "b"] }, "choice", "one of a, b"],
    ["a titled choice", { type: "string", oneOf: titled("a", "b") }, "choice", "one of a, b"],
    ["a choice of old", { type: "string", enum: ["a", "b"], enumNames: ["A"] }, "choice", "one of a, b"],
    [
      "choices",
      { type: "array", items: { type: "string", enum: ["a", "b"] } },
      "choices",
      "any number of a, b",
    ],
    [
      "titled choices",
      { type: "array", minItems: 1, maxItems: 2, items: { anyOf: titled("a", "b") } },
      "choices",
      "1 to 2 of a, b",
    ],
    ["a list of anything", { type: "array", items: { type: "string" } }, "choices", "any number of texts"],
    ["no schema at all", 5, "text", "text"],
  ])("knows %s", (_, schema, kind, words) => {
    const field = fieldOf(schema);
    expect({ kind: field.kind, words: expectedOf(field) }).toStrictEqual({ kind, words });
  });

  it("gives choices their titles, in every way that servers write them", () => {
    const choices = [
      { value: "a", title: "A" },
      { value: "b", title: "B" },
    ];
    expect(fieldOf({ type: "string", oneOf: titled("a", "b") }).choices).toStrictEqual(choices);
    expect(fieldOf({ type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }).choices).toStrictEqual(
      choices,
    );
    expect(fieldOf({ type: "array", items: { anyOf: titled("a", "b") } }).choices).toStrictEqual(choices);
    expect(fieldOf({ enum: ["a", 1, "b"], enumNames: ["A"] }).choices).toStrictEqual([
      { value: "a", title: "A" },
      { value: "b", title: "b" },
    ]);
  });

  it.each([
    [{ type: "string", default: "x" }, "x"],
    [{ type: "string", default: "" }, ""],
    [{ type: "boolean", default: false }, false],
    [{ type: "array", items: { enum: ["a"] }, default: ["a"] }, ["a"]],
    // A default that the field itself forbids is none.
    [{ type: "string", maxLength: 1, default: "xy" }, undefined],
    [{ type: "string", enum: ["a"], default: "b" }, undefined],
    [{ type: "integer", default: "5" }, undefined],
    [{ type: "string", default: { a: 1 } }, undefined],
  ])("has the default of %j", (schema, preset) => {
    expect(fieldOf(schema).preset).toStrictEqual(preset);
  });

  it.each([
    ["apiKey", undefined, true],
    ["API_KEY", undefined, true],
    ["x", "Your password", true],
    ["access-token", undefined, true],
    ["pin", undefined, true],
    ["shipping", undefined, false],
    ["keyboard", "Token of esteem", false],
  ])("thinks of %s (%s) as a secret: %s", (name, title, secret) => {
    expect(looksSecret(fieldOf({ type: "string", ...(title && { title }) }, name))).toBe(secret);
    expect(looksSecret(fieldOf({ type: "boolean" }, name))).toBe(false);
  });
});

const sizes = {
  type: "string",
  oneOf: [
    { const: "s", title: "Small" },
    { const: "l", title: "Large" },
  ],
};
const digits = { type: "string", enum: ["10", "2", "1"] };
const several = {
  type: "array",
  minItems: 1,
  maxItems: 2,
  items: { type: "string", enum: ["a", "b", "c, d"] },
};

describe("a line that somebody typed", () => {
  it.each<[string, unknown, string, unknown]>([
    ["text as it is", { type: "string" }, "  two words ", "  two words "],
    ["text that looks like something else", { type: "string" }, "true", "true"],
    ["an address, without spaces around it", { type: "string", format: "email" }, " a@b.ch ", "a@b.ch"],
    ["a number", { type: "number" }, "-1.5e2", -150],
    ["an integer", { type: "integer" }, " 7 ", 7],
    ["yes", { type: "boolean" }, "Y", true],
    ["no", { type: "boolean" }, "no", false],
    ["false", { type: "boolean" }, "false", false],
    ["a choice by value", sizes, "l", "l"],
    ["a choice by number", sizes, "2", "l"],
    ["a choice by title", sizes, "Large", "l"],
    // A number that is a choice means that choice.
    ["a choice that is a number", digits, "2", "2"],
    ["a choice that is a number, and a place", digits, "1", "1"],
    ["choices by value", several, "b,a", ["b", "a"]],
    ["choices by number", several, "1, 3", ["a", "c, d"]],
    ["a choice that holds a comma", several, "c, d", ["c, d"]],
    ["choices as JSON", several, '["c, d","a"]', ["c, d", "a"]],
    ["none", { type: "array", items: { enum: ["a"] } }, "[]", []],
    ["a list of anything", { type: "array", items: { type: "string" } }, "x, y", ["x", "y"]],
  ])("is read as %s", (_, schema, text, value) => {
    expect(readFieldText(fieldOf(schema), text)).toStrictEqual({ value });
  });

  it.each<[string, unknown, string, string]>([
    ["too short", { type: "string", minLength: 3 }, "ab", "expected at least 3 characters, got 2"],
    ["no address", { type: "string", format: "email" }, "x", 'expected an email address, got "x"'],
    ["no URL", { type: "string", format: "uri" }, "/a", 'expected a URL, got "/a"'],
    [
      "no date",
      { type: "string", format: "date" },
      "2026-02-30",
      'expected a date, like 2026-07-28, got "2026-02-30"',
    ],
    [
      "no time",
      { type: "string", format: "date-time" },
      "2026-07-28",
      'expected a date and time, like 2026-07-28T09:00:00Z, got "2026-07-28"',
    ],
    ["no number", { type: "number" }, "many", 'expected a number, got "many"'],
    ["a fraction", { type: "integer" }, "1.5", 'expected an integer, got "1.5"'],
    ["too small", { type: "integer", minimum: 1 }, "0", "expected at least 1, got 0"],
    ["too large", { type: "number", maximum: 1 }, "1.1", "expected at most 1, got 1.1"],
    ["neither yes nor no", { type: "boolean" }, "maybe", 'expected y or n, got "maybe"'],
    ["no choice", sizes, "m", 'expected a number from 1 to 2, or a value, got "m"'],
    ["no number in the list", sizes, "3", 'expected a number from 1 to 2, or a value, got "3"'],
    ["0", sizes, "0", 'expected a number from 1 to 2, or a value, got "0"'],
    ["no choice by number", digits, "3", 'expected one of the values, got "3"'],
    ["one wrong of several", several, "a, x", 'expected a number from 1 to 3, or a value, got "x"'],
    ["one twice", several, "a, 1", '"a" is chosen twice'],
    ["too many", several, "1,2,3", 'expected at most 2 choices, got ["a","b","c, d"]'],
    ["too few", several, "[]", "expected at least 1 choices, got []"],
  ])("is refused where it is %s", (_, schema, text, problem) => {
    expect(readFieldText(fieldOf(schema), text)).toStrictEqual({ problem });
  });
});
