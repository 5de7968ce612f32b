/** Whatever a server lists or answers, no rule that reads it throws; what is made up for a schema is valid by it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Audited, Members } from "../../../../src/engine/audit/audited.js";
import type { Listing } from "../../../../src/engine/audit/catalogue.js";
import { contentProblems } from "../../../../src/engine/audit/rules/content-blocks.js";
import { stringsIn } from "../../../../src/engine/audit/rules/disclosure.js";
import * as patterns from "../../../../src/engine/audit/rules/disclosure-patterns.js";
import { messageProblems } from "../../../../src/engine/audit/rules/prompts.js";
import { badBlob, wrongType } from "../../../../src/engine/audit/rules/resources.js";
import {
  isValid,
  sampleArguments,
  wrongArguments,
} from "../../../../src/engine/audit/rules/sample-values.js";
import { forgeries } from "../../../../src/engine/audit/rules/state-forgeries.js";
import { RULES } from "../../../../src/engine/audit/rules.js";

/** Words that rules look for, so that arbitrary values meet them. */
const WORDS = [
  ..."type properties required items enum default $ref $defs anyOf allOf not x-mcp-header name title description".split(
    " ",
  ),
  ..."uri uriTemplate arguments annotations readOnlyHint mimeType text blob data content role messages".split(
    " ",
  ),
  ..."object array string integer #/$defs/a notes://{a} delete_note get_prompt constructor __proto__".split(
    " ",
  ),
];
const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: "binary", maxLength: 8 }));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6, depthIdentifier: "json" },
    word,
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.array(fc.tuple(word, tie("json")), { maxLength: 5 }).map((all) => Object.fromEntries(all)),
  ),
}));
const members = fc
  .array(fc.tuple(word, json), { maxLength: 6 })
  .map((all): Members => Object.fromEntries(all));
const tool = fc.record(
  { name: json, description: json, inputSchema: json, outputSchema: json, annotations: json },
  { requiredKeys: [] },
);

/** Those that read the catalogue alone. */
const READING = RULES.filter(({ id }) =>
  /^(?:tool-(?:name|description)|.*-names?|input-schema|output-schema|schema-.*|header-(?:annotation|secret)|annotation-.*|hidden-.*|escape-sequences|mixed-scripts|model-instructions|resource-(?:uri|template)|.*-as-tools|pagination-(?:end|cursor|empty|duplicates))$/.test(
    id,
  ),
);

const exchange = {
  sent: "",
  texts: [],
  messages: [],
  response: undefined,
  ended: undefined,
  http: undefined,
};
const listing = (items: readonly unknown[], nextCursor: unknown): Listing => {
  const entries = items.filter(
    (one): one is Members => typeof one === "object" && one !== null && !Array.isArray(one),
  );
  const page = { cursor: undefined, exchange, result: {}, items, nextCursor };
  return { method: "tools/list", pages: [page, { ...page, cursor: "a" }], entries, stopped: undefined };
};

describe("rules", () => {
  it("that read a catalogue are many", () => expect(READING.length).toBeGreaterThan(25));

  it("never throw on what is listed", async () => {
    const entries = fc.array(fc.oneof(tool, members, json), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        entries,
        entries,
        json,
        fc.constantFrom("modern", "legacy"),
        async (one, other, any, era) => {
          const catalogue = {
            tools: listing(one, any),
            resources: listing(other, any),
            resourceTemplates: listing(other, any),
            prompts: listing(other, any),
          };
          const speaking = { era, revision: "2026-07-28", capabilities: {}, instructions: any };
          const audited = { era, speaking, catalogue } as unknown as Audited;
          for (const rule of READING) {
            for (const { message, evidence, fix } of await rule.run(audited)) {
              expect([message, evidence, fix].map((text) => typeof text)).toEqual([
                "string",
                "string",
                "string",
              ]);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("never throw on what is answered", () => {
    fc.assert(
      fc.property(json, members, (any, object) => {
        contentProblems(any);
        contentProblems([object]);
        messageProblems(any);
        messageProblems([object]);
        badBlob(object);
        wrongType(object);
        stringsIn(any);
      }),
    );
  });

  it("look at any text in reasonable time", () => {
    const recognizers = [
      patterns.stackTrace,
      patterns.absolutePath,
      patterns.privateAddress,
      patterns.connectionString,
      patterns.connectionPassword,
      patterns.secret,
    ];
    for (const part of [
      "a",
      " ",
      "\n",
      "at ",
      "/home/",
      "<",
      "<!--",
      "{",
      "10.",
      "A1b2",
      "ghp_",
      "://",
      ":a@",
      "do not ",
    ]) {
      const text = part.repeat(50_000);
      const began = performance.now();
      for (const recognize of recognizers) recognize(text, () => false);
      const audited = {
        era: "modern",
        speaking: { revision: "2026-07-28", capabilities: {}, instructions: text },
        catalogue: {},
      } as unknown as Audited;
      for (const { id, run } of READING) if (/hidden|escape|mixed|model/.test(id)) void run(audited);
      expect(performance.now() - began, JSON.stringify(part)).toBeLessThan(2_000);
    }
  });
});

describe("made up values", () => {
  it("are valid, or there are none; wrong ones are not", () => {
    let made = 0;
    fc.assert(
      fc.property(json, fc.dictionary(word, json, { maxKeys: 4 }), (any, properties) => {
        for (const schema of [any, { type: "object", properties, required: Object.keys(properties) }]) {
          const args = sampleArguments(schema);
          if (args !== undefined && typeof schema === "object" && schema !== null && !Array.isArray(schema)) {
            expect(isValid(args, schema)).toBe(true);
            made += 1;
          }
          const wrong = wrongArguments(schema);
          if (wrong !== undefined) expect(isValid(wrong, schema)).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
    expect(made).toBeGreaterThan(50);
  });

  it.each([
    { type: "string", minLength: 20 },
    { type: "string", maxLength: 2 },
    { type: "string", format: "date-time" },
    { type: "integer", minimum: 5, multipleOf: 4 },
    { type: "integer", maximum: -3 },
    { type: "integer", exclusiveMinimum: 7 },
    { type: "array", items: { type: "integer" }, minItems: 2 },
    { anyOf: [{ type: "null" }, { type: "string" }] },
    { $ref: "#/$defs/color" },
    { type: "object", properties: { a: { const: 1 } }, required: ["a"] },
  ])("are made for %j", (property) => {
    const schema = {
      type: "object",
      properties: { p: property },
      required: ["p"],
      $defs: { color: { enum: ["red"] } },
    };
    expect(sampleArguments(schema)).toHaveProperty("p");
  });
});

it("what is called a URI is made up as one", () => {
  for (const name of ["uri", "url", "resourceUri", "callback_url", "imageURL"]) {
    const schema = { type: "object", properties: { [name]: { type: "string" } }, required: [name] };
    expect(sampleArguments(schema), name).toEqual({ [name]: "https://sample.invalid/" });
  }
  const schema = {
    type: "object",
    properties: { curl: { type: "string" }, url: { type: "integer" } },
    required: ["url"],
  };
  expect(sampleArguments(schema)).toEqual({ url: 1 });
});

describe("forgeries", () => {
  it("are never the state itself, whatever it is", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          json.map((value) => JSON.stringify(value)),
          fc.base64String(),
        ),
        (state) => {
          for (const forgery of forgeries(state)) expect(forgery.state).not.toBe(state);
        },
      ),
    );
  });
  it("change what can be read", () => {
    const state = Buffer.from(JSON.stringify({ user: "ann", step: 1, admin: false })).toString("base64url");
    const read = forgeries(state).map((one) => Buffer.from(one.state, "base64url").toString("utf8"));
    expect(read).toContain('{"user":"ann","step":1,"admin":true}');
    expect(read).toContain('{"user":"annx","step":1,"admin":false}');
  });
  it("change the claims of a JWT and keep its signature", () => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const token = [part({ alg: "HS256" }), part({ step: 1 }), "signature"].join(".");
    expect(forgeries(token).map(({ state }) => state)).toContain(
      [part({ alg: "HS256" }), part({ step: 2 }), "signature"].join("."),
    );
  });
  it("decode to other bytes", () => {
    const state = Buffer.from("0123456789abcdef").toString("base64url");
    for (const { state: other } of forgeries(state))
      expect(Buffer.from(other, "base64url").equals(Buffer.from(state, "base64url"))).toBe(false);
  });
});
