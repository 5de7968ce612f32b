import { describe, expect, it } from "vitest";
import { readPair } from "../../src/engine/argument-pairs.js";
import { typeArguments, typePromptArguments } from "../../src/engine/arguments.js";
import { UsageError } from "../../src/engine/usage-error.js";

const typed = (schema: Record<string, unknown>, ...pairs: string[]) =>
  typeArguments("tool", schema, { pairs: pairs.map(readPair) });

/** The value of one argument called `a`, by its own schema. */
const one = (schema: unknown, ...texts: string[]) =>
  typed({ type: "object", properties: { a: schema } }, ...texts.map((text) => `a=${text}`))["a"];

const problemsOf = (run: () => unknown): string[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof UsageError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  throw new Error("expected a UsageError");
};

describe("one argument, by its schema", () => {
  const accepted: [what: string, schema: unknown, texts: string[], value: unknown][] = [
    ["text as it is", { type: "string" }, ["a=b "], "a=b "],
    ["empty text", { type: "string" }, [""], ""],
    ["text that looks like a number", { type: "string" }, ["5"], "5"],
    ["text that says null", { type: "string" }, ["null"], "null"],
    ["an integer", { type: "integer" }, ["-12"], -12],
    ["minus nothing", { type: "integer" }, ["-0"], 0],
    ["the largest safe integer", { type: "integer" }, ["9007199254740991"], 9007199254740991],
    ["a number", { type: "number" }, ["1e3"], 1000],
    ["a fraction", { type: "number" }, ["-0.25"], -0.25],
    ["true", { type: "boolean" }, ["true"], true],
    ["false", { type: "boolean" }, ["false"], false],
    ["null alone", { type: "null" }, ["null"], null],
    ["null where it is allowed", { type: ["string", "null"] }, ["null"], null],
    ["null in a combination", { anyOf: [{ type: "string" }, { type: "null" }] }, ["null"], null],
    ["null in an enumeration", { enum: ["a", null] }, ["null"], null],
    ["an allowed value", { enum: ["sev1", "sev2"] }, ["sev2"], "sev2"],
    ["an allowed number", { enum: [1, 2] }, ["2"], 2],
    ["the first of two that look alike", { enum: ["1", 1] }, ["1"], "1"],
    ["a constant", { const: "x" }, ["x"], "x"],
    ["the first alternative that fits", { anyOf: [{ type: "integer" }, { type: "string" }] }, ["5"], 5],
    [
      "the second where the first does not fit",
      { anyOf: [{ type: "integer" }, { type: "string" }] },
      ["5x"],
      "5x",
    ],
    [
      "an alternative by its bounds",
      { oneOf: [{ type: "integer", minimum: 10 }, { type: "string" }] },
      ["5"],
      "5",
    ],
    ["types in their order", { type: ["integer", "string"] }, ["7"], 7],
    ["nothing known", {}, ["5"], "5"],
    ["anything", true, ["5"], "5"],
    ["a list of one", { type: "array", items: { type: "string" } }, ["x"], ["x"]],
    ["a repeated argument", { type: "array", items: { type: "integer" } }, ["1", "2"], [1, 2]],
    ["a list as JSON", { type: "array", items: { type: "integer" } }, ["[1, 2]"], [1, 2]],
    ["an empty list", { type: "array" }, ["[]"], []],
    ["an empty item", { type: "array", items: { type: "string" } }, [""], [""]],
    [
      "one row of a table",
      { type: "array", items: { type: "array", items: { type: "integer" } } },
      ["[1,2]"],
      [[1, 2]],
    ],
    [
      "a tuple",
      { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }] },
      ["1", "2"],
      [1, "2"],
    ],
    ["an object as JSON", { type: "object" }, ['{"b": null}'], { b: null }],
    ["an object without a type", { properties: { b: { type: "integer" } } }, ['{"b": 1}'], { b: 1 }],
    ["a range", { type: "integer", exclusiveMinimum: 0, maximum: 3 }, ["3"], 3],
  ];
  it.each(accepted)("reads %s", (_, schema, texts, value) => {
    expect(one(schema, ...texts)).toStrictEqual(value);
  });

  const refused: [what: string, schema: unknown, texts: string[], problem: string][] = [
    ["prose for an integer", { type: "integer" }, ["abc"], 'a: expected an integer, got "abc"'],
    ["nothing for an integer", { type: "integer" }, [""], 'a: expected an integer, got ""'],
    ["an exponent for an integer", { type: "integer" }, ["1e3"], 'a: expected an integer, got "1e3"'],
    ["a fraction for an integer", { type: "integer" }, ["1.5"], 'a: expected an integer, got "1.5"'],
    ["a leading zero", { type: "integer" }, ["007"], 'a: expected an integer, got "007"'],
    ["spaces", { type: "integer" }, [" 5"], 'a: expected an integer, got " 5"'],
    [
      "an integer that would be rounded",
      { type: "integer" },
      ["9007199254740993"],
      'a: "9007199254740993" cannot be sent exactly; integers go to ±9007199254740991',
    ],
    [
      "an endless number",
      { type: "number" },
      ["1e999"],
      'a: "1e999" cannot be sent exactly; integers go to ±9007199254740991',
    ],
    ["Infinity", { type: "number" }, ["Infinity"], 'a: expected a number, got "Infinity"'],
    ["a hexadecimal number", { type: "number" }, ["0x10"], 'a: expected a number, got "0x10"'],
    ["yes for true", { type: "boolean" }, ["yes"], 'a: expected true or false, got "yes"'],
    ["1 for true", { type: "boolean" }, ["1"], 'a: expected true or false, got "1"'],
    ["null where it is not allowed", { type: "integer" }, ["null"], 'a: expected an integer, got "null"'],
    [
      "a value that is not listed",
      { enum: ["sev1", "sev2"] },
      ["sev9"],
      'a: expected one of sev1, sev2, got "sev9"',
    ],
    ["two values for one", { type: "string" }, ["x", "y"], "a: given 2 times, but it takes one value"],
    [
      "a wrong item",
      { type: "array", items: { type: "integer" } },
      ["1", "x"],
      'a[1]: expected an integer, got "x"',
    ],
    [
      "a wrong item in JSON",
      { type: "array", items: { type: "integer" } },
      ['[1, "x"]'],
      'a[1]: expected an integer, got "x"',
    ],
    ["too much", { type: "integer", maximum: 100 }, ["500"], "a: expected at most 100, got 500"],
    [
      "too much, where null would do",
      { type: ["integer", "null"], maximum: 100 },
      ["500"],
      "a: expected at most 100, got 500",
    ],
    ["too short", { type: "string", minLength: 3 }, ["😀"], "a: expected at least 3 characters, got 1"],
    ["too few items", { type: "array", minItems: 2 }, ["x"], "a: expected at least 2 items, got 1"],
    [
      "an item twice",
      { type: "array", uniqueItems: true },
      ["x", "x"],
      'a[1]: expected every item once, got "x" again',
    ],
    [
      "no alternative",
      { anyOf: [{ type: "integer" }, { type: "boolean" }] },
      ["x"],
      'a: expected an integer or true or false, got "x"',
    ],
    [
      "an object that is none",
      { type: "object" },
      ["x"],
      'a: expected an object (as JSON, or member by member: a.name=value), got "x"',
    ],
    [
      "a member that is wrong",
      { type: "object", properties: { b: { type: "integer" } } },
      ['{"b": "x"}'],
      'a.b: expected an integer, got "x"',
    ],
    ["what cannot be", false, ["x"], 'a: expected nothing, got "x"'],
    [
      "a network reference",
      { $ref: "https://example.com/schema.json" },
      ["x"],
      'a: its schema refers to "https://example.com/schema.json", which is not in the document; write a:=json for a value as it is',
    ],
    [
      "an unknown type",
      { type: "date" },
      ["x"],
      'a: its schema has the unknown type "date"; write a:=json for a value as it is',
    ],
  ];
  it.each(refused)("refuses %s", (_, schema, texts, problem) => {
    expect(problemsOf(() => one(schema, ...texts))).toStrictEqual([problem]);
  });

  it("says how to write a list item that begins with a bracket", () => {
    const [problem] = problemsOf(() => one({ type: "array", items: { type: "string" } }, "[draft]"));
    const literal = problem?.split(" write ")[1] as string;
    expect(literal).toBe('a:="[\\"[draft]\\"]"');
    expect(typed({ properties: { a: { type: "array" } } }, 'a:=["[draft]"]')).toStrictEqual({
      a: ["[draft]"],
    });
  });
});

describe("schemas in parts", () => {
  it("follows local references, also through combinations", () => {
    const schema = {
      type: "object",
      properties: { level: { $ref: "#/$defs/level" }, other: { $ref: "#named" } },
      $defs: {
        level: { allOf: [{ type: "integer" }, { maximum: 3 }] },
        named: { $anchor: "named", type: "boolean" },
      },
    };
    expect(typed(schema, "level=3", "other=true")).toStrictEqual({ level: 3, other: true });
    expect(problemsOf(() => typed(schema, "level=4"))).toStrictEqual(["level: expected at most 3, got 4"]);
  });

  it("survives a reference that leads to itself, and one that repeats without end", () => {
    const loop = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { $ref: "#/$defs/a" } },
    };
    expect(typed(loop, "a=x")).toStrictEqual({ a: "x" });
    const tree: Record<string, unknown> = { type: "object", properties: { label: { type: "string" } } };
    (tree["properties"] as Record<string, unknown>)["child"] = { $ref: "#" };
    expect(typed(tree, "child.child.label=leaf")).toStrictEqual({ child: { child: { label: "leaf" } } });
  });

  it("survives combinations that multiply without end", () => {
    const many = {
      anyOf: Array.from({ length: 50 }, (_, index) => ({ type: "object", title: String(index) })),
    };
    const schema = { type: "object", properties: { a: { allOf: Array.from({ length: 20 }, () => many) } } };
    expect(typed(schema, 'a={"x":1}')).toStrictEqual({ a: { x: 1 } });
  });

  it("reads a choice of objects at the root", () => {
    const schema = {
      type: "object",
      oneOf: [
        { properties: { kind: { const: "file" }, path: { type: "string" } }, required: ["kind", "path"] },
        { properties: { kind: { const: "count" }, count: { type: "integer" } }, required: ["kind", "count"] },
      ],
    };
    expect(typed(schema, "kind=count", "count=3")).toStrictEqual({ kind: "count", count: 3 });
    expect(problemsOf(() => typed(schema, "kind=count", "count=x"))).toStrictEqual([
      'count: expected an integer, got "x"',
    ]);
  });
});

describe("members of objects", () => {
  const place = {
    type: "object",
    properties: {
      place: {
        type: "object",
        properties: {
          city: { type: "string" },
          floor: { type: "integer" },
          zip: { type: "object", properties: { code: { type: "integer" } } },
        },
        required: ["city"],
      },
    },
  };

  it("sets them one by one", () => {
    const given = typed(place, "place.city=Bern", "place.floor=2", "place.zip.code=3000");
    expect(given).toStrictEqual({ place: { city: "Bern", floor: 2, zip: { code: 3000 } } });
  });

  it("names what is wrong by its path", () => {
    expect(problemsOf(() => typed(place, "place.floor=x", "place.cty=B"))).toStrictEqual([
      'place.floor: expected an integer, got "x"',
      'place.cty: unknown; expected one of city, floor, zip. Did you mean "city"?',
      "place.city: missing; expected a string",
    ]);
  });

  it("takes it whole or by member, not both", () => {
    expect(problemsOf(() => typed(place, 'place={"city":"Bern"}', "place.floor=2"))).toStrictEqual([
      "place: given both whole and member by member",
    ]);
  });

  it("prefers a property whose own name has dots", () => {
    const schema = { properties: { "user.name": { type: "string" }, user: { type: "object" } } };
    expect(typed(schema, "user.name=x", "user.age=3")).toStrictEqual({
      "user.name": "x",
      user: { age: "3" },
    });
  });

  it("refuses members of what has none", () => {
    const schema = { properties: { a: { type: "integer" } } };
    expect(problemsOf(() => typed(schema, "a.b=1"))).toStrictEqual([
      "a: expected an integer, which has no member b",
    ]);
  });

  it("sets members called like parts of the language", () => {
    const given = typed({ type: "object" }, "__proto__=x", "constructor=y", "toString=z");
    expect(Object.entries(given)).toStrictEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
      ["toString", "z"],
    ]);
    expect(problemsOf(() => typed({ properties: { a: {} } }, "constructor=y"))).toStrictEqual([
      "constructor: unknown; expected one of a",
    ]);
  });
});

describe("the arguments of a tool together", () => {
  const schema = {
    type: "object",
    properties: {
      title: { type: "string", description: "What happened.\nIn one line." },
      severity: { enum: ["sev1", "sev2"] },
      limit: { type: "integer" },
    },
    required: ["title", "severity"],
  };

  it("names all that is missing, with its description", () => {
    expect(problemsOf(() => typed(schema))).toStrictEqual([
      "title: missing; expected a string (What happened.)",
      "severity: missing; expected one of sev1, sev2",
    ]);
  });

  it("names everything that is wrong at once", () => {
    const run = () => typed(schema, "limit=x", "severty=sev1", "title=t");
    expect(problemsOf(run)).toStrictEqual([
      'limit: expected an integer, got "x"',
      'severty: unknown; expected one of title, severity, limit. Did you mean "severity"?',
      "severity: missing; expected one of sev1, sev2",
    ]);
    expect(run).toThrow(/^tool cannot be called like this:\nlimit: /);
  });

  it("lets unknown arguments through where the schema says so", () => {
    const open = { ...schema, required: [], additionalProperties: { type: "integer" } };
    expect(typed(open, "more=3")).toStrictEqual({ more: 3 });
    expect(problemsOf(() => typed(open, "more=x"))).toStrictEqual(['more: expected an integer, got "x"']);
    expect(typed({ ...open, additionalProperties: true }, "more=3")).toStrictEqual({ more: "3" });
    expect(
      typed({ type: "object", patternProperties: { "^x-": { type: "boolean" } } }, "x-a=true"),
    ).toStrictEqual({ "x-a": true });
    expect(problemsOf(() => typed({ type: "object", additionalProperties: false }, "more=3"))).toStrictEqual([
      "more: unknown; there are no arguments to give here",
    ]);
  });

  it("sends JSON as it is, whatever the schema says", () => {
    const given = typed(schema, "title:=null", "severity:=9", 'new:={"a":[1]}');
    expect(given).toStrictEqual({ title: null, severity: 9, new: { a: [1] } });
    expect(problemsOf(() => typed(schema, "title:=oops", "severity=sev1"))).toStrictEqual([
      'title: expected JSON after ":=", got "oops"',
    ]);
    expect(problemsOf(() => typed(schema, "title:=1", "title:=2", "severity=sev1"))).toStrictEqual([
      "title: given 2 times; title:=json takes all of it at once",
    ]);
  });

  it("sets single members of what was given whole, and checks only those", () => {
    const base = { title: 1, anything: true };
    expect(typeArguments("tool", schema, { pairs: [readPair("limit=3")], base })).toStrictEqual({
      title: 1,
      anything: true,
      limit: 3,
    });
    expect(
      problemsOf(() => typeArguments("tool", schema, { pairs: [readPair("limit=x")], base })),
    ).toHaveLength(1);
  });
});

describe("the arguments of a prompt", () => {
  const prompt = {
    name: "week",
    arguments: [{ name: "focus", required: true, description: "What matters." }, { name: "depth" }],
  };
  const given = (...pairs: string[]) => typePromptArguments(prompt, { pairs: pairs.map(readPair) });

  it("are text", () => {
    expect(given("focus=5", "depth=null")).toStrictEqual({ focus: "5", depth: "null" });
  });

  it("are named where they are unknown or missing", () => {
    expect(problemsOf(() => given("focs=5"))).toStrictEqual([
      'focs: unknown; expected one of focus, depth. Did you mean "focus"?',
      "focus: missing; expected a string (What matters.)",
    ]);
  });

  it("survive a declaration that is none", () => {
    const odd = { name: "odd", arguments: [null, { title: "x" }] } as unknown as typeof prompt;
    expect(problemsOf(() => typePromptArguments(odd, { pairs: [readPair("a=b")] }))).toStrictEqual([
      "a: unknown; there are no arguments to give here",
    ]);
  });
});

describe("pairs", () => {
  it.each([
    ["a=b", { name: "a", text: "b", raw: false }],
    ["a=", { name: "a", text: "", raw: false }],
    ["a=b=c", { name: "a", text: "b=c", raw: false }],
    ["a=:=c", { name: "a", text: ":=c", raw: false }],
    ["a:=1", { name: "a", text: "1", raw: true }],
    ["a.b:=1", { name: "a.b", text: "1", raw: true }],
  ])("reads %s", (operand, pair) => {
    expect(readPair(operand)).toStrictEqual(pair);
  });

  it.each(["a", "", "=b", ":=b"])("refuses %j", (operand) => {
    expect(() => readPair(operand)).toThrow(UsageError);
  });
});
