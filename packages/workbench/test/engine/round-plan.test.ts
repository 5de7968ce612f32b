/** Answers that were given beforehand, against what servers ask for. */
import { describe, expect, it } from "vitest";
import { readAnswer, readAnswers } from "../../src/engine/given-answers.js";
import type { InputNeeded } from "../../src/engine/input-needed.js";
import { createPlanner, type Planner } from "../../src/engine/round-plan.js";
import { UsageError } from "../../src/engine/usage-error.js";

const form = (properties: Record<string, unknown>, required?: string[], message = "Why?") => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties, ...(required && { required }) } },
});
const page = (url = "https://pay.example.com/") => ({
  method: "elicitation/create",
  params: { mode: "url", message: "Pay.", url },
});
const when = form({ startsAt: { type: "string", format: "date-time" }, note: { type: "string" } }, [
  "startsAt",
]);
const TIME = "2026-07-28T09:00:00Z";

interface Given {
  readonly file?: unknown;
  readonly decline?: boolean;
}
function plannerFor(answers: readonly string[], { file, decline = false }: Given = {}): Planner {
  const whole = file === undefined ? new Map() : readAnswers(JSON.stringify(file), "a.json");
  return createPlanner({ pairs: answers.map(readAnswer), whole, declineOthers: decline });
}
function plan(answers: readonly string[], requests: Record<string, unknown>, given?: Given) {
  return Object.fromEntries(plannerFor(answers, given).plan(requests, false).answers);
}
function failure(planner: Planner, requests: Record<string, unknown>, canAsk = false): InputNeeded {
  try {
    planner.plan(requests, canAsk);
  } catch (error) {
    expect(error).toMatchObject({ name: "InputNeeded" });
    return error as InputNeeded;
  }
  throw new Error("expected InputNeeded");
}
const problemsOf = (answers: readonly string[], requests: Record<string, unknown>, given?: Given) =>
  failure(plannerFor(answers, given), requests).problems.map(({ path, message }) => `${path}: ${message}`);

describe("answers of the command line", () => {
  it("are typed by the form, for every kind of field", () => {
    const everything = form({
      text: { type: "string" },
      number: { type: "number" },
      integer: { type: "integer" },
      yes: { type: "boolean" },
      choice: { type: "string", enum: ["a", "1"] },
      titled: { type: "string", oneOf: [{ const: "x", title: "X" }] },
      several: { type: "array", items: { type: "string", enum: ["a", "b"] } },
      listed: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
      old: { type: "string", enum: ["a"], enumNames: ["A"] },
      raw: { type: "string" },
      empty: { type: "string" },
    });
    const given = [
      "k.text=5",
      "k.number=1.5",
      "k.integer=5",
      "k.yes=true",
      "k.choice=1",
      "k.titled=x",
      "k.several=a",
      "k.several=b",
      'k.listed=["a"]',
      "k.old=a",
      'k.raw:="="',
      "k.empty=",
    ];
    expect(plan(given, { k: everything })).toStrictEqual({
      k: {
        action: "accept",
        content: {
          text: "5",
          number: 1.5,
          integer: 5,
          yes: true,
          choice: "1",
          titled: "x",
          several: ["a", "b"],
          listed: ["a"],
          old: "a",
          raw: "=",
          empty: "",
        },
      },
    });
  });

  it("leave to the defaults what they do not give", () => {
    const defaults = form({ a: { type: "string", default: "x" }, b: { type: "integer", default: 2 } }, [
      "a",
      "b",
    ]);
    expect(plan(["k.b=3"], { k: defaults })["k"]?.content).toStrictEqual({ a: "x", b: 3 });
    expect(plan(["k=accept"], { k: defaults })["k"]?.content).toStrictEqual({ a: "x", b: 2 });
    expect(plan(["k=accept"], { k: form({ a: { type: "string" } }) })["k"]?.content).toStrictEqual({});
  });

  it("decline, cancel, and agree to pages", () => {
    expect(
      plan(["a=decline", "b=cancel", "c=accept", "d=decline"], { a: when, b: when, c: page(), d: page() }),
    ).toStrictEqual({
      a: { action: "decline" },
      b: { action: "cancel" },
      c: { action: "accept" },
      d: { action: "decline" },
    });
  });

  it("find their question though keys and fields hold dots", () => {
    const dotted = form({ "b.c": { type: "string" }, c: { type: "string" } });
    expect(plan(["a.b.c=1"], { a: dotted })).toMatchObject({ a: { content: { "b.c": "1" } } });
    expect(plan(["a.b.c=1", "a=accept"], { a: dotted, "a.b": dotted })).toMatchObject({
      a: { content: {} },
      "a.b": { content: { c: "1" } },
    });
    expect(plan(["a.b=decline"], { "a.b": dotted })).toStrictEqual({ "a.b": { action: "decline" } });
  });

  it("may be about anything that prototypes have", () => {
    const requests = JSON.parse(`{"__proto__":${JSON.stringify(form({ toString: { type: "string" } }))}}`);
    const { answers } = plannerFor(["__proto__.toString=x"]).plan(requests, false);
    expect([...answers]).toStrictEqual([["__proto__", { action: "accept", content: { toString: "x" } }]]);
    expect(problemsOf(["k.toString=x"], { k: when })).toStrictEqual([
      "k.toString: unknown; expected one of startsAt, note",
    ]);
  });

  it.each<[string[], string[]]>([
    [
      ["k.startsAt=tomorrow"],
      ['k.startsAt: expected a date and time, like 2026-07-28T09:00:00Z, got "tomorrow"'],
    ],
    [["k.startsAt:=5"], ["k.startsAt: expected a string, got 5"]],
    [
      [`k.startsAt=${TIME}`, "k.nte=x"],
      ['k.nte: unknown; expected one of startsAt, note. Did you mean "note"?'],
    ],
    [
      [`k.startsAt=${TIME}`, "k.nte:=1"],
      ['k.nte: unknown; expected one of startsAt, note. Did you mean "note"?'],
    ],
    [["k.startsAt=a", "k.startsAt=b"], ["k.startsAt: given 2 times, but it takes one value"]],
    [["k.note=x"], ["k.startsAt: missing; expected a date and time, like 2026-07-28T09:00:00Z"]],
    [["k=accept"], ["k.startsAt: missing; expected a date and time, like 2026-07-28T09:00:00Z"]],
    [["k=decline", `k.startsAt=${TIME}`], ["k: given both decline and accept"]],
    [["k=decline", "k=cancel"], ["k: given both decline and cancel"]],
    [[], ["k.startsAt: missing; expected a date and time, like 2026-07-28T09:00:00Z"]],
  ])("%j do not do", (answers, problems) => {
    expect(problemsOf(answers, { k: when })).toStrictEqual(problems);
  });

  it("give no fields to a page", () => {
    const problem = "k: is a page to open, and has no fields; expected accept, decline or cancel";
    expect(problemsOf(["k.a=1"], { k: page() })).toStrictEqual([problem]);
    expect(problemsOf([], { k: page() }, { file: { k: { a: 1 } } })).toStrictEqual([problem]);
    expect(problemsOf([], { k: page() })).toStrictEqual(['k: not answered: "Pay."']);
  });

  it.each(["when", "when=tomorrow", "=x", "when:=5", ".a", ""])(
    "are refused at once where they are %j",
    (given) => {
      expect(() => readAnswer(given)).toThrow(UsageError);
    },
  );
});

describe("answers of a file", () => {
  it("are actions with content, actions, or contents", () => {
    const optional = form({ action: { type: "string" }, a: { type: "string", default: "x" } });
    const file = {
      one: { action: "accept", content: { a: "y" } },
      two: { a: "y" },
      three: "decline",
      four: { action: "cancel", content: { nonsense: true } },
      five: { action: "accept" },
      // A form may have a field called "action".
      six: { action: "accept", a: "y" },
      seven: { action: "run" },
      eight: { action: "accept", content: {} },
    };
    const requests = Object.fromEntries(Object.keys(file).map((key) => [key, optional]));
    expect(plan([], requests, { file })).toStrictEqual({
      one: { action: "accept", content: { a: "y" } },
      two: { action: "accept", content: { a: "y" } },
      three: { action: "decline" },
      four: { action: "cancel" },
      five: { action: "accept", content: { a: "x" } },
      six: { action: "accept", content: { a: "y", action: "accept" } },
      seven: { action: "accept", content: { a: "x", action: "run" } },
      eight: { action: "accept", content: {} },
    });
  });

  it("are overridden by single fields of the command line", () => {
    const file = { k: { startsAt: TIME, note: "file" } };
    expect(plan(["k.note=line"], { k: when }, { file })["k"]?.content).toStrictEqual({
      startsAt: TIME,
      note: "line",
    });
    expect(plan(["k=decline"], { k: when }, { file })).toStrictEqual({ k: { action: "decline" } });
    expect(plan([`k.startsAt=${TIME}`], { k: when }, { file: { k: "decline" } })["k"]).toMatchObject({
      action: "accept",
    });
  });

  it.each<[unknown, string[]]>([
    [
      { startsAt: "tomorrow" },
      ['k.startsAt: expected a date and time, like 2026-07-28T09:00:00Z, got "tomorrow"'],
    ],
    [{ startsAt: TIME, note: null }, ["k.note: expected a string, got null"]],
    [{ startsAt: TIME, nte: "x" }, ['k.nte: unknown; expected one of startsAt, note. Did you mean "note"?']],
    [
      { action: "accept", content: {} },
      ["k.startsAt: missing; expected a date and time, like 2026-07-28T09:00:00Z"],
    ],
  ])("%j does not do", (answer, problems) => {
    expect(problemsOf([], { k: when }, { file: { k: answer } })).toStrictEqual(problems);
  });

  it.each([
    ["{", "expected JSON in a.json: "],
    ["[]", "expected a JSON object in a.json, got []"],
    ['{"k":5}', 'k: expected an object, "accept", "decline" or "cancel", got 5'],
    ['{"k":"accepted"}', 'k: expected an object, "accept", "decline" or "cancel", got "accepted"'],
    ['{"k":{"action":"accept","content":[]}}', "k.content: expected an object, got []"],
  ])("%s is refused at once", (json, message) => {
    expect(() => readAnswers(json, "a.json")).toThrow(UsageError);
    expect(() => readAnswers(json, "a.json")).toThrow(`--answers: ${message}`);
  });
});

describe("a round", () => {
  it("fails as a whole, naming everything that is missing or wrong", () => {
    const requests = {
      a: when,
      b: page("https://xn--pple-43d.com/x"),
      c: when,
      d: when,
      r: { method: "roots/list" },
    };
    const error = failure(plannerFor(["c.startsAt=x", "d=decline"]), requests);
    expect(error.message.split("\n")).toStrictEqual([
      "the server asks for input that was not given:",
      'a: "Why?"',
      "--answer a.startsAt=...  a date and time, like 2026-07-28T09:00:00Z, required",
      "--answer a.note=...  text",
      "--answer a=decline  to decline",
      'b: "Pay." "https://xn--pple-43d.com/x"',
      expect.stringMatching(/^warning: the host is written in Punycode, and reads \u0430pple\.com/),
      "warning: \u0430pple mixes Latin and Cyrillic letters",
      "--answer b=accept  once you have opened it yourself",
      "--answer b=decline  to decline",
      'c.startsAt: expected a date and time, like 2026-07-28T09:00:00Z, got "x"',
    ]);
    expect(error.inputRequests).toStrictEqual({ a: when, b: requests.b, c: when });
    expect(error.problems.map(({ path }) => path)).toStrictEqual(["a.startsAt", "b", "c.startsAt"]);
  });

  it("names only the fields that are missing, once some are given", () => {
    const two = form({ a: { type: "string" }, b: { type: "string", title: "B" }, c: { type: "string" } }, [
      "a",
      "b",
    ]);
    expect(failure(plannerFor(["k.a=1"]), { k: two }).message.split("\n")).toStrictEqual([
      "the server asks for input that was not given:",
      'k: "Why?"',
      '--answer k.b=...  "B": text, required',
      "--answer k=decline  to decline",
    ]);
  });

  it("shows no end of fields, and quotes what a shell would take apart", () => {
    const many = form(
      Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f ${at}`, { type: "string" }])),
    );
    const lines = failure(plannerFor([]), { "a b": many }).message.split("\n");
    expect(lines[1]).toBe('"a b": "Why?"');
    expect(lines[2]).toBe("--answer 'a b.f 0=...'  text");
    expect(lines.slice(42)).toStrictEqual([
      "and 10 more fields",
      "--answer 'a b=accept'  sends its defaults",
      "--answer 'a b=decline'  to decline",
    ]);
  });

  it("leaves to a person what is not answered, with what is known of it", () => {
    const { answers, open } = plannerFor(["a.note=x", "b=decline"]).plan(
      { a: when, b: when, c: when, d: page() },
      true,
    );
    expect([...answers]).toStrictEqual([["b", { action: "decline" }]]);
    expect([...open]).toStrictEqual([
      ["a", { note: "x" }],
      ["c", {}],
      ["d", {}],
    ]);
  });

  it("does not bother a person where an answer is wrong", () => {
    const error = failure(plannerFor(["b.startsAt=x"]), { a: when, b: when }, true);
    expect(Object.keys(error.inputRequests)).toStrictEqual(["b"]);
    expect(error.message).toMatch(/^the answers that were given do not fit what the server asks for:\n/);
  });

  it("declines what is left, where that was asked for, and asks nobody", () => {
    expect(plan([], { a: when, b: page() }, { decline: true })).toStrictEqual({
      a: { action: "decline" },
      b: { action: "decline" },
    });
    const some = plannerFor(["a.note=x"], { decline: true });
    expect(Object.keys(failure(some, { a: when, b: when }, true).inputRequests)).toStrictEqual(["a"]);
  });

  it("that asks again for the same does not get the same again", () => {
    for (const [answers, request, given] of [
      [[`k.startsAt=${TIME}`], when, {}],
      [["k=accept"], page(), {}],
      [["k=decline"], when, {}],
      [[], when, { decline: true }],
      [[], when, { file: { k: { startsAt: TIME } } }],
    ] as const) {
      const planner = plannerFor(answers, given);
      expect(planner.plan({ k: request }, false).answers.size).toBe(1);
      const again = { ...request, params: { ...request.params, message: "No, really?" } };
      const error = failure(planner, { k: again });
      expect(error.problems).toStrictEqual([
        { path: "k", message: 'the server asks again after the answer that was given: "No, really?"' },
      ]);
      expect(error.inputRequests).toStrictEqual({ k: again });
    }
  });

  it("that asks for something else under the same key is answered anew", () => {
    const planner = plannerFor(["k=accept"]);
    const first = form({ a: { type: "string", default: "x" } });
    const second = form({ b: { type: "string", default: "y" } });
    expect(planner.plan({ k: first }, false).answers.get("k")?.content).toStrictEqual({ a: "x" });
    expect(planner.plan({ k: second }, false).answers.get("k")?.content).toStrictEqual({ b: "y" });
  });

  it("that asks again is left to a person, who finds the answer there", () => {
    const planner = plannerFor([`k.startsAt=${TIME}`]);
    planner.plan({ k: when }, true);
    expect([...planner.plan({ k: when }, true).open]).toStrictEqual([["k", { startsAt: TIME }]]);
  });

  it("leaves unused what it does not ask for", () => {
    const planner = plannerFor(["a=decline", "b.x=1", "c=accept"], { file: { d: "decline", a: "cancel" } });
    expect(planner.unused()).toStrictEqual([
      "--answer a",
      "--answer b.x",
      "--answer c",
      "--answers d",
      "--answers a",
    ]);
    planner.plan({ a: when }, false);
    expect(planner.unused()).toStrictEqual(["--answer b.x", "--answer c", "--answers d"]);
  });
});
