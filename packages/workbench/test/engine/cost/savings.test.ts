/** What is cut from a catalogue, and what must not be touched. */
import type { Tool } from "mica-mcp/client";
import { beforeAll, describe, expect, it } from "vitest";
import { type CountTokens, loadO200k } from "../../../src/engine/cost/o200k.js";
import { findSavings } from "../../../src/engine/cost/savings.js";

let count: CountTokens;
beforeAll(async () => {
  count = await loadO200k();
});
const idsOf = (tool: object) => findSavings([tool as Tool], count).savings.map(({ id }) => id);
const withInput = (inputSchema: object) => ({
  name: "a_tool",
  inputSchema: { type: "object", ...inputSchema },
});

describe("what is cut", () => {
  it.each([
    ["a schema that is named deep inside", { properties: { a: { items: { $schema: "x" } } } }, ["$schema"]],
    [
      "additionalProperties of nothing",
      { $defs: { a: { additionalProperties: {} } } },
      ["additionalProperties"],
    ],
    ["a title made of a name", { properties: { user_name: { title: "User name" } } }, ["titles"]],
    ["bounds of safe integers", { anyOf: [{ maximum: Number.MAX_SAFE_INTEGER }] }, ["safeIntegers"]],
  ])("%s", (_, schema, ids) => {
    expect(idsOf(withInput(schema))).toEqual(ids);
  });

  it("a title of the tool or of its annotations", () => {
    expect(idsOf({ ...withInput({}), title: "A tool" })).toEqual(["titles"]);
    expect(idsOf({ ...withInput({}), title: "Other", annotations: { title: "Other" } })).toEqual(["titles"]);
  });
});

describe("what stays", () => {
  it.each([
    [
      "properties that are called like words",
      { properties: { $schema: {}, title: {}, additionalProperties: {} } },
    ],
    ["data", { properties: { a: { default: { $schema: "x" }, enum: [{ additionalProperties: false }] } } }],
    ["additionalProperties that say more", { additionalProperties: { type: "string" } }],
    ["titles that say more", { properties: { a: { title: "The letter" } } }],
    ["bounds that say more", { properties: { a: { minimum: 0, maximum: 10 } } }],
    ["a long description in one paragraph", { description: "word ".repeat(60).trim() }],
  ])("%s", (_, schema) => {
    expect(idsOf(withInput(schema))).toEqual([]);
  });

  it("members whose names are those of every object", () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"$schema":"x"},"constructor":{"$schema":"y"}}}');
    const { savings, together } = findSavings([withInput(schema) as Tool], count);
    expect(savings).toMatchObject([{ id: "$schema", tools: ["a_tool"] }]);
    const cut = JSON.parse('{"properties":{"__proto__":{},"constructor":{}}}');
    const tokens = (inner: object) => count(JSON.stringify(withInput(inner)));
    expect(together.listed).toBe(tokens(schema) - tokens(cut));
  });

  it("the tools that were given", () => {
    const tool = withInput({ $schema: "x", properties: { a: { title: "A", additionalProperties: false } } });
    const before = structuredClone(tool);
    findSavings([tool as Tool], count);
    expect(tool).toEqual(before);
  });
});
