/** What counts as a difference between two messages, what may differ, and what becomes of that. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { carryOver, compareMessages, ignoring } from "../../src/engine/compare-messages.js";

const never = () => false;
const paths = (before: unknown, now: unknown, ignore: readonly string[] = []) =>
  compareMessages(before, now, ignoring(ignore)).differences.map(({ path }) => path);

describe("differences", () => {
  it("are none between a value and itself", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy: unknown = JSON.parse(JSON.stringify(value));
        expect(compareMessages(JSON.parse(JSON.stringify(value)), copy, never).differences).toEqual([]);
      }),
    );
  });

  it("are found where two values are not the same JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
        const { differences } = compareMessages(JSON.parse(a), JSON.parse(b), never);
        const isSame = () => expect(JSON.parse(a)).toEqual(JSON.parse(b));
        // Texts that are JSON are compared for what they say, so that spelling does not count.
        if (differences.length === 0 && !/\\"|\[|\{/.test(a)) isSame();
      }),
    );
  });

  it.each<[unknown, unknown, string[]]>([
    [{ a: 1, b: [1, { c: 2 }] }, { a: 1, b: [1, { c: 3 }] }, ["b.1.c"]],
    [{ a: 1 }, { b: 1 }, ["a", "b"]],
    [[1, 2], [1], ["1"]],
    [{ a: null }, {}, ["a"]],
    [{ text: '{"x":1, "y":2}' }, { text: '{"y":2,"x":1}' }, []],
    [{ text: '{"x":1}' }, { text: '{"x":2}' }, ["text.x"]],
    [{ text: "[1" }, { text: "[2" }, ["text"]],
    [0, -0, [""]],
    [JSON.parse('{"__proto__":1}'), {}, ["__proto__"]],
    [{}, { toString: 1 }, ["toString"]],
  ])("of %j and %j", (before, now, expected) => {
    expect(paths(before, now)).toEqual(expected);
  });
});

describe("paths that may differ", () => {
  const before = { result: { id: "a", items: [{ at: 1 }, { at: 2 }], _meta: { "com.example/x": 1 } } };
  const now = { result: { id: "b", items: [{ at: 3 }, { at: 4 }], _meta: { "com.example/x": 2 } } };
  it.each<[string[], string[]]>([
    [["result.id"], ["result.items.0.at", "result.items.1.at", "result._meta.com.example/x"]],
    [["result.id", "result.items.*.at"], ["result._meta.com.example/x"]],
    [["**.at", "**.id", "result._meta.com.example/x"], []],
    [["result.**"], []],
    [["result"], []],
    [
      ["id", "at", "*.at", "result.i"],
      ["result.id", "result.items.0.at", "result.items.1.at", "result._meta.com.example/x"],
    ],
  ])("%j", (ignore, expected) => {
    expect(paths(before, now, ignore)).toEqual(expected);
  });

  it("take nothing for a pattern but * and **", () => {
    expect(ignoring(["a.b"])("axb")).toBe(false);
    expect(ignoring(["a(b|c)+"])("ab")).toBe(false);
    expect(ignoring(["**.a"])("a")).toBe(true);
    expect(ignoring(["*"])("a.b")).toBe(false);
  });
});

describe("what is carried over", () => {
  it("is every text that differs where it may, and replaces whole texts only", () => {
    const ignored = ignoring(["result.id", "result.list"]);
    const { carried, differences } = compareMessages(
      { result: { id: "old", list: ["x", { y: "z" }], n: 1 } },
      { result: { id: "new", list: ["X", { y: "Z" }], n: 1 } },
      ignored,
    );
    expect(differences).toEqual([]);
    expect(carryOver({ a: ["old", "older", { old: "z" }], n: 1 }, carried)).toEqual({
      a: ["new", "older", { old: "Z" }],
      n: 1,
    });
  });
});
