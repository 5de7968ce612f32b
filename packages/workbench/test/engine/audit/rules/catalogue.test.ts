// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
/** Names, schemas, annotations, pages, URIs: what is wrong is found, and what is only unusual is not. */
import { describe, expect, it } from "vitest";
import {
  contradiction,
  destructiveVerb,
  types,
  untrue,
} from "../../../../src/engine/audit/rules/annotations.js";
import { contentProblems, isBase64, uriProblem } from "../../../../src/engine/audit/rules/content-blocks.js";
import { lookAlikes, skeleton, toolNames } from "../../../../src/engine/audit/rules/names.js";
import { cursorTypes, duplicates, emptyPages, loop } from "../../../../src/engine/audit/rules/pagination.js";
import { promptsAsTools, readsAsTools } from "../../../../src/engine/audit/rules/primitives.js";
import { messageProblems } from "../../../../src/engine/audit/rules/prompts.js";
import {
  badBlob,
  invalidTemplate,
  invalidUri,
  wrongType,
} from "../../../../src/engine/audit/rules/resources.js";
import {
  defaults,
  enumerations,
  headerAnnotations,
  mirroredSecrets,
  refusedForms,
  requiredProperties,
  size,
} from "../../../../src/engine/audit/rules/schema-sense.js";
import { placesOf, type ToolSchema } from "../../../../src/engine/audit/rules/schema-walk.js";
import { inputSchema, outputSchema, problemsOf } from "../../../../src/engine/audit/rules/schemas.js";

describe("names", () => {
  it.each(["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a", "a".repeat(128)])("%s is one", (name) =>
    expect(toolNames([name])).toEqual([]),
  );
  it.each(["", "a b", "a,b", "a/b", "\u00e9", "a\n", "a".repeat(129)])("%j is none", (name) =>
    expect(toolNames([name])).toHaveLength(1),
  );
  it("are a judgement before the specification said what they look like", () => {
    expect(toolNames(["a b"], false)[0]?.severity).toBe("note");
  });

  it.each([
    ["get_user", "getUser"],
    ["list", "List"],
    ["list", "l\u0456st"],
    ["item1", "iteml"],
    ["find", "find\u200b"],
    ["find", "\uff46ind"],
  ])("%s and %s look alike", (one, other) => {
    expect(skeleton(one)).toBe(skeleton(other));
    expect(lookAlikes("tools", [one, other, "unlike"])).toHaveLength(1);
  });
  it("that say different things do not", () => {
    expect(lookAlikes("tools", ["get_user", "get_users", "set_user", "user_get"])).toEqual([]);
  });
});

const inputOf = (schema: unknown): ToolSchema => ({ tool: "t", member: "inputSchema", schema });
const everywhere = (look: typeof defaults, schema: unknown) =>
  placesOf(schema).flatMap((place) => look(place, inputOf(schema)));
const withProperty = (property: unknown, more = {}) => ({
  type: "object",
  properties: { p: property },
  ...more,
});

describe("schemas", () => {
  it.each([[undefined], [null], [true], [[]], [{}], [{ type: "array" }], [{ type: ["object"] }]])(
    "%j is no input schema",
    (schema) => expect(inputSchema("t", schema)).toHaveLength(1),
  );
  it("an object is one", () => expect(inputSchema("t", { type: "object" })).toEqual([]));

  it("of output are objects by the revision", () => {
    const array: ToolSchema = { tool: "t", member: "outputSchema", schema: { type: "array" } };
    expect(outputSchema(array, true)).toHaveLength(1);
    expect(outputSchema(array, false)).toEqual([]);
    expect(outputSchema({ ...array, schema: true }, false)).toHaveLength(1);
  });

  it.each([
    [{ $ref: "#/$defs/p" }, "nowhere"],
    [{ $ref: "other.json" }, "outside"],
    [{ $ref: "https://example.com/schema" }, "outside"],
    [{ enum: "x" }, "keyword"],
    [{ required: ["a", "a"] }, "keyword"],
    [{ type: ["string", "string"] }, "keyword"],
    [5, "not_a_schema"],
  ])("%j is %s", (property, kind) => {
    expect(problemsOf(withProperty(property)).map((one) => one.kind)).toEqual([kind]);
  });
  it("of earlier dialects are valid by those", () => {
    const $schema = "http://json-schema.org/draft-07/schema#";
    expect(
      problemsOf({ $schema, definitions: { p: {} }, ...withProperty({ $ref: "#/definitions/p" }) }),
    ).toEqual([]);
  });

  it.each([
    ["undescribed", { type: "object", properties: { a: {} }, required: ["a", "b"] }, 1],
    ["nothing described", { type: "object", required: ["a"] }, 1],
    ["described by a pattern", { type: "object", patternProperties: { "^a": {} }, required: ["a"] }, 0],
    [
      "described for any name",
      { type: "object", additionalProperties: { type: "string" }, required: ["a"] },
      0,
    ],
    [
      "one of two",
      { type: "object", properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      0,
    ],
    ["described elsewhere", { type: "object", required: ["a"], allOf: [{ properties: { a: {} } }] }, 0],
    [
      "under a condition",
      { type: "object", properties: { a: {}, b: {} }, if: { required: ["a"] }, then: { required: ["b"] } },
      0,
    ],
    ["named like a member of every object", { type: "object", properties: {}, required: ["toString"] }, 1],
  ])("required: %s", (_, schema, count) =>
    expect(everywhere(requiredProperties, schema)).toHaveLength(count),
  );

  it.each([
    [{ type: "string", default: 5 }, 1],
    [{ type: "string", default: null }, 1],
    [{ anyOf: [{ type: "string" }, { type: "null" }], default: null }, 0],
    [{ enum: ["a", "b"], default: "c" }, 1],
    [{ type: "integer", minimum: 1, default: 0 }, 1],
    [{ default: "anything" }, 0],
    [{ $ref: "#/$defs/color", default: "red" }, 0],
    [{ $ref: "#/$defs/color", default: "pink" }, 1],
    [{ type: "array", items: { type: "string" }, default: [] }, 0],
  ])("default in %j: %i", (property, count) =>
    expect(
      everywhere(defaults, withProperty(property, { $defs: { color: { enum: ["red"] } } })),
    ).toHaveLength(count),
  );

  it("with a pattern that takes for ever keep nobody", () => {
    const began = performance.now();
    const property = { type: "string", pattern: "^(a+)+$", default: `${"a".repeat(60)}b` };
    expect(everywhere(defaults, withProperty(property))).toEqual([]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it.each([
    [["a", "b"], 0],
    [[1, "1", true, null], 0],
    [["a", "a"], 1],
    [[{ a: 1 }, { a: 1 }], 1],
    [[], 1],
  ])("enum %j: %i", (values, count) =>
    expect(everywhere(enumerations, withProperty({ enum: values }))).toHaveLength(count),
  );

  it("that hosts refuse: unions at the top, arrays without items, of what goes in", () => {
    expect(everywhere(refusedForms, { type: "object", oneOf: [{}, {}] })).toHaveLength(1);
    expect(everywhere(refusedForms, withProperty({ anyOf: [{}, {}] }))).toEqual([]);
    expect(everywhere(refusedForms, withProperty({ type: ["array", "null"] }))).toHaveLength(1);
    expect(everywhere(refusedForms, withProperty({ type: "array", items: {} }))).toEqual([]);
    expect(everywhere(refusedForms, withProperty({ type: "array", prefixItems: [{}] }))).toEqual([]);
    const output: ToolSchema = { tool: "t", member: "outputSchema", schema: { oneOf: [{}] } };
    expect(placesOf(output.schema).flatMap((place) => refusedForms(place, output))).toEqual([]);
  });

  it("are too large by depth, by number and by length", () => {
    let deep: unknown = {};
    for (let level = 0; level < 17; level++) deep = { properties: { p: deep } };
    const wide = { properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [index, {}])) };
    const long = { description: "x".repeat(65 * 1024) };
    for (const schema of [deep, wide, long]) expect(size(inputOf(schema))).toHaveLength(1);
    expect(size(inputOf(withProperty(withProperty({}))))).toEqual([]);
    const endless: unknown = JSON.parse(`${'{"items":'.repeat(200_000)}{}${"}".repeat(200_000)}`);
    expect(size(inputOf(endless))[0]?.message).toContain("100 levels deep");
  });

  it("mirror what can be mirrored, and no secrets", () => {
    const mirrored = (name: string, type: string) =>
      inputOf({ type: "object", properties: { [name]: { type, "x-mcp-header": "Name" } } });
    expect(headerAnnotations(mirrored("region", "string"))).toEqual([]);
    expect(headerAnnotations(mirrored("region", "number"))).toHaveLength(1);
    for (const name of ["password", "apiKey", "access_token"])
      expect(mirroredSecrets(mirrored(name, "string")), name).toHaveLength(1);
    for (const name of ["region", "max_tokens", "pageToken"])
      expect(mirroredSecrets(mirrored(name, "string")), name).toEqual([]);
  });
});

describe("annotations", () => {
  it("are booleans", () => {
    expect(types({ name: "t", annotations: { readOnlyHint: 1, title: "T" } })).toHaveLength(1);
    expect(types({ name: "t", annotations: "read-only" })).toHaveLength(1);
    expect(types({ name: "t", annotations: { readOnlyHint: true } })).toEqual([]);
  });
  it("do not contradict each other", () => {
    expect(
      contradiction({ name: "t", annotations: { readOnlyHint: true, destructiveHint: true } }),
    ).toHaveLength(1);
    expect(contradiction({ name: "t", annotations: { readOnlyHint: true, destructiveHint: false } })).toEqual(
      [],
    );
  });
  it.each(["delete_note", "deleteNote", "notes.delete_all", "DropTable", "files__remove_file"])(
    "%s takes something away",
    (name) => expect(destructiveVerb(name)).toBeDefined(),
  );
  it.each(["list_deleted_notes", "get_dropdown", "deleted", "removal_cost", "dropbox_search", "constructor"])(
    "%s does not",
    (name) => {
      expect(destructiveVerb(name)).toBeUndefined();
      expect(untrue({ name, annotations: { readOnlyHint: true } })).toEqual([]);
    },
  );
});

describe("pages", () => {
  const exchange = {
    sent: "",
    texts: [],
    messages: [],
    response: undefined,
    ended: undefined,
    http: undefined,
  };
  const listing = (...pages: [cursor: string | undefined, names: string[], next: unknown][]) => ({
    method: "tools/list",
    pages: pages.map(([cursor, names, nextCursor]) => {
      const items = names.map((name) => ({ name }));
      return { cursor, exchange, result: { items }, items, nextCursor };
    }),
  });

  it("that come back are a loop", () => {
    const pages = listing([undefined, ["a"], "p"], ["p", ["b"], "p"], ["p", ["b"], "p"]);
    expect(loop(pages)).toHaveLength(1);
    expect(duplicates(pages)).toEqual([]);
  });
  it("of one cursor that go on are none", () => {
    expect(loop(listing([undefined, ["a"], "p"], ["p", ["b"], "p"], ["p", ["c"], undefined]))).toEqual([]);
  });
  it("may be empty once, and an empty cursor is one", () => {
    const pages = listing([undefined, ["a"], ""], ["", [], "q"], ["q", ["b"], undefined]);
    for (const look of [loop, emptyPages, duplicates, cursorTypes]) expect(look(pages)).toEqual([]);
  });
  it("hold an entry once, each", () => {
    expect(duplicates(listing([undefined, ["a"], "p"], ["p", ["a"], undefined]))).toHaveLength(1);
    expect(duplicates(listing([undefined, ["a", "a"], undefined]))).toEqual([]);
  });
  it("have cursors that are strings", () => expect(cursorTypes(listing([undefined, [], 0]))).toHaveLength(1));
});

describe("resources", () => {
  it.each([
    "notes://all",
    "file:///a%20b",
    "urn:isbn:1",
    "https://example.com/?a[]=1#b",
    "data:,x",
    "git+ssh://h/p",
  ])("%s is a URI", (uri) => expect(uriProblem(uri)).toBeUndefined());
  it.each([
    "",
    "notes",
    "/all",
    "notes:",
    "a b:c",
    "notes://a b",
    "notes://\u00fc",
    "notes://%zz",
    "1a://b",
    "{x}",
  ])("%j is none", (uri) => expect(invalidUri({ name: "r", uri })).toHaveLength(1));
  it("have templates of RFC 6570", () => {
    expect(invalidTemplate({ name: "r", uriTemplate: "notes://{+path}{?a,b*}" })).toEqual([]);
    for (const uriTemplate of ["notes://{", "notes://{a b}", "notes://}", 5])
      expect(invalidTemplate({ name: "r", uriTemplate })).toHaveLength(1);
  });
  it.each(["", "bm90ZXM=", "bm90ZXM", "bm90\r\nZXM="])("%j is Base64", (blob) => {
    expect(isBase64(blob)).toBe(true);
    expect(badBlob({ uri: "notes://all", blob })).toEqual([]);
  });
  it.each(["a", "no!", "bm90=ZXM=", "bm90ZX_-"])("%j is none", (blob) =>
    expect(badBlob({ uri: "notes://all", blob })).toHaveLength(1),
  );
  it.each([
    [{ mimeType: "application/json", text: "{}" }, 0],
    [{ mimeType: "application/json; charset=utf-8", text: "{" }, 1],
    [{ mimeType: "application/ld+json", text: "no" }, 1],
    [{ mimeType: "application/json-seq", text: "no" }, 0],
    [{ mimeType: "image/svg+xml", text: "<svg/>" }, 0],
    [{ mimeType: "image/png", text: "PNG" }, 1],
    [{ mimeType: "image/png", blob: "iVBORw0KGgo=" }, 0],
    [{ mimeType: "image/png", blob: "/9j/4AAQ" }, 1],
    [{ mimeType: "application/octet-stream", blob: "bm90ZXM=" }, 0],
    [{ mimeType: "text/plain", blob: "bm90ZXM=" }, 0],
    [{ text: "{" }, 0],
  ])("%j is of its type, or not: %i", (contents, count) => expect(wrongType(contents)).toHaveLength(count));
});

describe("content and messages", () => {
  it.each([
    [{ type: "text", text: "" }, 0],
    [{ type: "text" }, 1],
    [{ type: "image", data: "AA==", mimeType: "image/png" }, 0],
    [{ type: "audio", data: "!", mimeType: "audio/wav" }, 1],
    [{ type: "resource_link", uri: "notes://all", name: "all" }, 0],
    [{ type: "resource_link", uri: "notes://all" }, 1],
    [{ type: "resource", resource: { uri: "notes://all", text: "" } }, 0],
    [{ type: "resource", resource: { uri: "notes://all" } }, 1],
    [{ type: "video" }, 1],
    ["text", 1],
  ])("%j has %i problems", (block, count) => {
    expect(contentProblems([block])).toHaveLength(count);
    expect(messageProblems([{ role: "user", content: block }])).toHaveLength(count);
  });
  it("are lists, of messages with a role", () => {
    expect(contentProblems("text")).toHaveLength(1);
    expect(messageProblems([{ role: "system", content: { type: "text", text: "" } }])).toHaveLength(1);
    expect(messageProblems([{ role: "user", content: [] }])).toHaveLength(1);
  });
});

describe("primitives", () => {
  const read = (name: string, more = {}) => ({
    name,
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    ...more,
  });
  it("reads without arguments are one finding", () => {
    expect(readsAsTools([read("get_config"), read("list_notes"), read("search")])).toHaveLength(1);
    expect(readsAsTools([read("search"), read("getaway"), read("get_a", { annotations: {} })])).toEqual([]);
    expect(
      readsAsTools([read("get_a", { inputSchema: { type: "object", properties: { id: {} } } })]),
    ).toEqual([]);
  });
  it("prompts are told by their names", () => {
    expect(
      promptsAsTools([{ name: "review_prompt" }, { name: "getPrompt" }, { name: "list_prompts" }]),
    ).toHaveLength(1);
    expect(promptsAsTools([{ name: "promptly_reply" }, { name: "prompt_user_for_x" }])).toEqual([]);
  });
});
