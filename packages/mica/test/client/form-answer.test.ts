/** Content against the restricted schema of a form (client/elicitation, Requested Schema). */
import { expect, it } from "vitest";
import { fieldProblem, fillDefaults, formProblem } from "../../src/client/form-answer.js";
import type { ElicitationSchema } from "../../src/protocol/input-requests.js";

const schemaOf = (properties: Record<string, unknown>, required?: string[]) =>
  ({ type: "object", properties, ...(required && { required }) }) as ElicitationSchema;
const titled = (...values: string[]) => values.map((value) => ({ const: value, title: value.toUpperCase() }));

it.each<[string, Record<string, unknown>, unknown]>([
  ["a string", { type: "string" }, "x"],
  ["an empty string", { type: "string" }, ""],
  ["length in characters, not units", { type: "string", minLength: 2, maxLength: 2 }, "😀😀"],
  ["a number", { type: "number", minimum: 0, maximum: 1 }, 0.5],
  ["an integer", { type: "integer", minimum: 18 }, 18],
  ["a boolean", { type: "boolean" }, false],
  ["a choice", { type: "string", enum: ["a", "b"] }, "b"],
  ["a titled choice", { type: "string", oneOf: titled("a", "b") }, "a"],
  [
    "choices",
    { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["a", "b"] } },
    ["a", "b"],
  ],
  ["titled choices", { type: "array", items: { anyOf: titled("a", "b") } }, []],
  ["an email", { type: "string", format: "email" }, "a@example.com"],
  ["a uri", { type: "string", format: "uri" }, "https://example.com/a?b"],
  ["a date", { type: "string", format: "date" }, "2024-02-29"],
  ["a date-time", { type: "string", format: "date-time" }, "2024-02-29T23:59:60Z"],
  ["a date-time with an offset", { type: "string", format: "date-time" }, "1999-12-31t00:00:00.123+05:30"],
  ["a format nobody knows", { type: "string", format: "phone" }, "whatever"],
  ["a type nobody knows", { type: "color" }, "red"],
])("%s fits", (_, field, value) => {
  expect(formProblem(schemaOf({ f: field }), { f: value })).toBeUndefined();
});

it.each<[string, Record<string, unknown>, unknown, RegExp]>([
  ["a number for a string", { type: "string" }, 1, /a string, got 1/],
  ["null", { type: "string" }, null, /a string, got null/],
  ["too short", { type: "string", minLength: 2 }, "😀", /at least 2 characters/],
  ["too long", { type: "string", maxLength: 1 }, "ab", /at most 1 characters/],
  ["too small", { type: "number", minimum: 0 }, -0.1, /at least 0/],
  ["too large", { type: "integer", maximum: 5 }, 6, /at most 5/],
  ["a fraction", { type: "integer" }, 1.5, /an integer/],
  ["not a number", { type: "number" }, Number.NaN, /a number/],
  ["a text for a boolean", { type: "boolean" }, "true", /a boolean/],
  ["no choice", { type: "string", enum: ["a", "b"] }, "c", /one of \["a","b"\]/],
  ["no titled choice", { type: "string", oneOf: titled("a") }, "A", /one of \["a"\]/],
  ["one choice for several", { type: "array", items: { enum: ["a"] } }, "a", /an array of strings/],
  ["choices that are no strings", { type: "array", items: {} }, [1], /an array of strings/],
  ["too few choices", { type: "array", minItems: 1, items: { enum: ["a"] } }, [], /at least 1 choices/],
  [
    "too many choices",
    { type: "array", maxItems: 1, items: { enum: ["a"] } },
    ["a", "a"],
    /at most 1 choices/,
  ],
  ["a choice out of none", { type: "array", items: { anyOf: titled("a") } }, ["b"], /choices out of/],
  ["no email", { type: "string", format: "email" }, "a.example.com", /format email/],
  ["no uri", { type: "string", format: "uri" }, "/a/b", /format uri/],
  ["no day", { type: "string", format: "date" }, "2023-02-29", /format date/],
  ["no month", { type: "string", format: "date" }, "2023-13-01", /format date/],
  ["no zone", { type: "string", format: "date-time" }, "2023-01-01T00:00:00", /format date-time/],
  ["no hour", { type: "string", format: "date-time" }, "2023-01-01T24:00:00Z", /format date-time/],
  ["an object", { type: "color" }, {}, /string, number, boolean or array of strings/],
])("%s does not, and the field is named", (_, field, value, problem) => {
  const found = formProblem(schemaOf({ f: field }), { f: value });
  expect(found).toMatch(/^field "f": expected /);
  expect(found).toMatch(problem);
});

it("one field alone is told what was expected", () => {
  expect(fieldProblem({ type: "string", format: "date" }, "tomorrow")).toBe("the format date");
  expect(fieldProblem({ type: "string", format: "date" }, "2024-02-29")).toBeUndefined();
});

it("required fields must be there, prototypes do not count, others may be added", () => {
  const schema = schemaOf({ a: { type: "string" }, toString: { type: "string" } }, ["a", "toString"]);
  expect(formProblem(schema, {})).toBe('field "a" is required');
  expect(formProblem(schema, { a: "x" })).toBe('field "toString" is required');
  expect(formProblem(schema, { a: undefined })).toBe('field "a" is required');
  expect(formProblem(schemaOf({}), { constructor: "x", more: true })).toBeUndefined();
  expect(formProblem(schemaOf({}), { more: { deep: 1 } })).toMatch(/field "more"/);
  expect(formProblem(schemaOf({}), [])).toMatch(/expected an object/);
});

it("defaults fill only what is absent", () => {
  const schema = schemaOf({
    a: { type: "string", default: "x" },
    b: { type: "boolean", default: true },
    c: { type: "string" },
  });
  expect(fillDefaults(schema, { b: false })).toEqual({ b: false, a: "x" });
});

it("takes a field that is undefined for one that is left out", () => {
  const schema = schemaOf({ a: { type: "string", default: "x" }, b: { type: "string" } }, ["b"]);
  expect(fillDefaults(schema, { a: undefined, b: "y" })).toEqual({ a: "x", b: "y" });
  expect(formProblem(schema, { a: undefined, b: "y" })).toBeUndefined();
  expect(formProblem(schema, { b: undefined })).toBe('field "b" is required');
});
