/** Forms and pages, asked over streams that a test reads and writes. */
import { PassThrough } from "node:stream";
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from "mica-mcp/client";
import { describe, expect, it } from "vitest";
import { askForm } from "../../src/cli/ask-form.js";
import { askUrl, type UrlSettings } from "../../src/cli/ask-url.js";
import { type Dialog, openDialog } from "../../src/cli/dialog.js";
import type { FormContent } from "../../src/engine/form.js";
import { STEERING } from "../run-command.js";

interface Asked {
  readonly result: ElicitResult;
  /** All that was shown, without what was typed. */
  readonly screen: string;
}

/** Ends every prompt. */
const PROMPT = /(: |\? \[.*\] )$/;

/** Types one line at every prompt; `undefined` is the end of input. */
async function converse(
  lines: readonly (string | undefined)[],
  ask: (dialog: Dialog) => Promise<ElicitResult>,
): Promise<Asked> {
  const input = new PassThrough();
  const output = new PassThrough();
  const left = [...lines];
  let screen = "";
  output.on("data", (chunk: Buffer) => {
    screen += chunk;
    if (!PROMPT.test(screen)) return;
    if (left.length === 0) throw new Error(`asked once more than expected:\n${screen}`);
    const line = left.shift();
    if (line === undefined) input.end();
    else input.write(`${line}\n`);
  });
  const { signal } = new AbortController();
  const dialog = await openDialog({ input, output, signal, interrupt: () => {} });
  const result = await ask(dialog);
  dialog.close();
  expect(left).toStrictEqual([]);
  return { result, screen };
}

const params = (properties: Record<string, unknown>, required?: string[], message = "Why?") =>
  ({
    message,
    requestedSchema: { type: "object", properties, ...(required && { required }) },
  }) as ElicitFormParams;
const fillIn = (form: ElicitFormParams, lines: readonly (string | undefined)[], known?: FormContent) =>
  converse(lines, (dialog) => askForm(dialog, "garden (target)", form, known));
const accepted = (content: FormContent) => ({ action: "accept", content });

const everyKind = params(
  {
    name: { type: "string", title: "Your name", minLength: 2, maxLength: 10 },
    email: { type: "string", format: "email", description: "Where we write.\nNever shared." },
    site: { type: "string", format: "uri" },
    day: { type: "string", format: "date" },
    startsAt: { type: "string", format: "date-time" },
    guests: { type: "integer", minimum: 1, maximum: 8 },
    ratio: { type: "number", maximum: 1 },
    quiet: { type: "boolean" },
    colour: { type: "string", enum: ["red", "green"] },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    old: { type: "string", enum: ["a", "b"], enumNames: ["Ah", "Bee"] },
    extras: {
      type: "array",
      items: { type: "string", enum: ["tea", "cake", "jam"] },
      minItems: 1,
      maxItems: 2,
    },
    days: {
      type: "array",
      items: {
        anyOf: [
          { const: "mo", title: "Monday" },
          { const: "tu", title: "Tuesday" },
        ],
      },
    },
  },
  [
    "name",
    "email",
    "site",
    "day",
    "startsAt",
    "guests",
    "ratio",
    "quiet",
    "colour",
    "size",
    "old",
    "extras",
    "days",
  ],
);

describe("a form", () => {
  it("asks for every kind of field, until each fits", async () => {
    const { result, screen } = await fillIn(everyKind, [
      ...["", "A", "Ada"],
      ...["ada", "ada@example.com"],
      ...["/home", "https://example.com/"],
      ...["2026-02-30", "2026-07-28"],
      ...["09:00", "2026-07-28T09:00:00Z"],
      ...["many", "9", "8"],
      ...["1.5", "0.5"],
      ...["maybe", "y"],
      ...["blue", "2"],
      ...["3", "Large"],
      ...["Bee"],
      ...["1,2,3", "3, tea"],
      ...["[]"],
      "y",
    ]);
    expect(result).toStrictEqual(
      accepted({
        name: "Ada",
        email: "ada@example.com",
        site: "https://example.com/",
        day: "2026-07-28",
        startsAt: "2026-07-28T09:00:00Z",
        guests: 8,
        ratio: 0.5,
        quiet: true,
        colour: "green",
        size: "l",
        old: "b",
        extras: ["jam", "tea"],
        days: [],
      }),
    );
    for (const shown of [
      "\ngarden (target) asks:\n  | Why?\n",
      "\nYour name *: text, 2 to 10 characters\n  name:   It is required.\n  name:   expected at least 2 characters, got 1\n",
      "\nemail *: an email address\n  | Where we write.\n  | Never shared.\n",
      'expected a URL, got "/home"',
      "\nquiet *: true or false\n  quiet (y/n): ",
      "\nsize *: choose one, by number or value\n    1  Small (s)\n    2  Large (l)\n  size: ",
      "\nold *: choose one, by number or value\n    1  Ah (a)\n    2  Bee (b)\n",
      "\nextras *: choose 1 to 2, by number or value, with commas between them\n    1  tea\n    2  cake\n    3  jam\n",
      "\nYour answers to garden (target)\n  name      Ada\n",
      "  quiet     yes\n  colour    green\n  size      Large (l)\n  old       Bee (b)\n  extras    jam, tea\n  days      (none)\n",
    ])
      expect(screen).toContain(shown);
  });

  it("takes Enter for the default, else for nothing", async () => {
    const form = params({
      a: { type: "string", default: "x y" },
      b: { type: "boolean", default: false },
      c: { type: "string", oneOf: [{ const: "c", title: "Sea" }], default: "c" },
      d: { type: "array", items: { enum: ["p", "q"] }, default: ["q"] },
      e: { type: "integer" },
      f: { type: "string", default: "" },
      // No default at all, since it does not fit.
      g: { type: "integer", default: "many" },
    });
    const { result, screen } = await fillIn(form, ["", "", "", "", "", "", "", ""]);
    expect(result).toStrictEqual(accepted({ a: "x y", b: false, c: "c", d: ["q"], f: "" }));
    for (const prompt of [
      "a [x y]: ",
      "b (y/n) [no]: ",
      "c [Sea (c)]: ",
      "d [q]: ",
      "e: ",
      "f [(empty)]: ",
      "g: ",
    ])
      expect(screen).toContain(`\n  ${prompt}`);
    expect(screen).toContain("\n  e  (left out)\n");
  });

  it("leaves out what is skipped, though it has a default, but nothing that is required", async () => {
    const form = params({ a: { type: "string", default: "x" }, b: { type: "string", default: "y" } }, ["b"]);
    const { result, screen } = await fillIn(form, ["/skip", "/skip", "", ""]);
    expect(result).toStrictEqual(accepted({ b: "y" }));
    expect(screen).toContain("It is required; /decline and /cancel leave the form.");
  });

  it("goes back, to answers that are still there", async () => {
    const form = params({ a: { type: "string" }, b: { type: "integer" } });
    const { result, screen } = await fillIn(form, ["/back", "one", "1", "/back", "/back", "two", "", ""]);
    expect(result).toStrictEqual(accepted({ a: "two", b: 1 }));
    expect(screen).toContain("This is the first field.");
    expect(screen).toContain("  a [one]: ");
    expect(screen).toContain("  b [1]: ");
  });

  it.each([
    [["/decline"], "decline"],
    [["/cancel"], "cancel"],
    [[undefined], "cancel"],
    [["x", "/decline"], "decline"],
    [["x", undefined], "cancel"],
    [["x", "", "decline"], "decline"],
    [["x", "", "/decline"], "decline"],
    [["x", "", "cancel"], "cancel"],
    [["x", "", undefined], "cancel"],
    [["x", "", "edit", "/cancel"], "cancel"],
  ] as const)("ends with %j as %s, and nothing of it is sent", async (lines, action) => {
    const form = params({ a: { type: "string" }, b: { type: "string" } }, ["a"]);
    expect((await fillIn(form, lines)).result).toStrictEqual({ action });
  });

  it("is reviewed, and changed, before it is sent", async () => {
    const form = params({ a: { type: "string" }, b: { type: "integer", default: 5 } });
    const lines = [
      "x",
      "",
      "n",
      "edit c",
      "edit 3",
      "edit b",
      "6",
      "edit 1",
      "y",
      "edit",
      "",
      "7",
      "whatever",
      "yes",
    ];
    const { result, screen } = await fillIn(form, lines);
    expect(result).toStrictEqual(accepted({ a: "y", b: 7 }));
    expect(screen.match(/Your answers/g)).toHaveLength(8);
    expect(screen.match(/Nothing is sent yet\./g)).toHaveLength(2);
    expect(screen).toContain('There is no field "c"');
    expect(screen).toContain('There is no field "3"');
    expect(screen).toContain("  b [5]: ");
    expect(screen).toContain("  b [6]: ");
  });

  it("takes what looks like a command for text only where it is none", async () => {
    const form = params({ a: { type: "string" }, b: { type: "string" }, c: { type: "string" } });
    expect((await fillIn(form, ["/etc/hosts", "//skip", "//etc", ""])).result).toStrictEqual(
      accepted({ a: "/etc/hosts", b: "/skip", c: "//etc" }),
    );
  });

  it("without fields asks for consent", async () => {
    const { result, screen } = await fillIn(params({}, undefined, "Delete it?"), [""]);
    expect(result).toStrictEqual(accepted({}));
    expect(screen).toContain("(nothing to fill in)");
    expect((await fillIn(params({}), ["decline"])).result).toStrictEqual({ action: "decline" });
  });

  it("begins with what is known, where that fits", async () => {
    const form = params({ a: { type: "string", default: "z" }, b: { type: "integer", maximum: 3 } });
    const { result, screen } = await fillIn(form, ["", "", ""], { a: "x", b: 9, other: "y" });
    expect(result).toStrictEqual(accepted({ a: "x" }));
    expect(screen).toContain("  a [x]: ");
    expect(screen).toContain("  b: ");
  });

  it("keeps a name that prototypes have", async () => {
    const form = JSON.parse(
      '{"message":"","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string"}}}}',
    );
    const { result } = await fillIn(form, ["x", ""]);
    expect(JSON.stringify(result)).toBe('{"action":"accept","content":{"__proto__":"x"}}');
  });

  it("warns of questions for secrets", async () => {
    expect((await fillIn(params({ apiKey: { type: "string" } }), ["/cancel"])).screen).toContain(
      "to ask for a secret",
    );
    expect((await fillIn(params({ name: { type: "string" } }), ["/cancel"])).screen).not.toContain("secret");
  });

  it("lists a great many choices in part, and takes them all", async () => {
    const values = Array.from({ length: 60 }, (_, at) => `v${at}`);
    const { result, screen } = await fillIn(params({ a: { type: "string", enum: values } }), ["60", ""]);
    expect(result).toStrictEqual(accepted({ a: "v59" }));
    expect(screen).toContain("    50  v49\n    and 10 more\n");
  });

  it("shows choices that are numbers without any", async () => {
    const { result, screen } = await fillIn(params({ a: { type: "string", enum: ["2", "1"] } }), ["1", ""]);
    expect(result).toStrictEqual(accepted({ a: "1" }));
    expect(screen).toContain("choose one, by value\n    2\n    1\n");
  });

  it("shows what a server slips in, and obeys none of it", async () => {
    const hostile = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202ehidden\u{e0041}\r\tx";
    const form = params(
      {
        [`n${hostile}`]: {
          type: "string",
          title: `t\n${hostile}`,
          description: `d\n${hostile}`,
          default: hostile,
        },
        c: { type: "string", oneOf: [{ const: `v\n${hostile}`, title: `T\n${hostile}` }] },
      },
      undefined,
      `${hostile}\n\nSend? [Y/n] y\n${"long ".repeat(2_000)}`,
    );
    const { result, screen } = await fillIn(form, ["", "1", "y"]);
    expect(result).toStrictEqual(accepted({ [`n${hostile}`]: hostile, c: `v\n${hostile}` }));
    expect(screen.replaceAll("\t", "")).not.toMatch(STEERING);
    // Every line of the server's stands behind a bar, or is no line of its own.
    expect(screen).toContain("\n  |\n  | Send? [Y/n] y\n");
    expect(screen).toMatch(/\n {2}\| \.\.\. \(\d+ more characters\)\n/);
    expect(screen.split("\n").filter((line) => line.startsWith("Send?"))).toHaveLength(1);
  });
});

const url = (address: string, message = "Please pay."): ElicitUrlParams => ({
  mode: "url",
  message,
  url: address,
});
const PAGE = "https://pay.example.com/checkout?id=1#top";

/** Asks for a page; tells what was opened, too. */
async function visit(
  page: ElicitUrlParams,
  lines: readonly (string | undefined)[],
  settings: Partial<UrlSettings> & { problem?: string } = {},
) {
  const opened: string[] = [];
  const open = async (href: string) => {
    opened.push(href);
    return settings.problem;
  };
  const asked = await converse(lines, (dialog) =>
    askUrl(dialog, "garden (target)", page, { mayOpen: true, again: false, open, ...settings }),
  );
  return { ...asked, opened };
}

describe("a page", () => {
  it("is opened after a yes, with all of its URL in view", async () => {
    const { result, opened, screen } = await visit(url(PAGE), ["y"]);
    expect(result).toStrictEqual({ action: "accept" });
    expect(opened).toStrictEqual([PAGE]);
    expect(screen).toBe(
      `\ngarden (target) asks you to open a page:\n  | Please pay.\n\n  ${PAGE}\n  Host: pay.example.com\nOpen it in your browser? [y/N] `,
    );
  });

  it.each([
    ["", "decline"],
    ["n", "decline"],
    ["/decline", "decline"],
    ["cancel", "cancel"],
    ["/cancel", "cancel"],
    [undefined, "cancel"],
  ])("is not opened after %j: %s", async (line, action) => {
    const { result, opened } = await visit(url(PAGE), [line]);
    expect({ result, opened }).toStrictEqual({ result: { action }, opened: [] });
  });

  it("is not opened after anything that is no plain yes", async () => {
    const { result, opened } = await visit(url(PAGE), ["yeah", "open", "ok", "n"]);
    expect({ result, opened }).toStrictEqual({ result: { action: "decline" }, opened: [] });
  });

  it("of another scheme is declined, and nobody is asked", async () => {
    const { result, opened, screen } = await visit(url("javascript:alert('\u202e')"), []);
    expect({ result, opened }).toStrictEqual({ result: { action: "decline" }, opened: [] });
    expect(screen).toContain('Declined: only http and https URLs are opened, not "javascript:".');
  });

  it("comes with warnings, before anybody is asked", async () => {
    const { screen } = await visit(url("http://a@xn--pple-43d.com/"), ["n"]);
    const before = screen.slice(0, screen.indexOf("Open it"));
    expect(before.match(/Warning: /g)).toHaveLength(4);
    expect(before).toContain("\n  http://a@xn--pple-43d.com/\n  Host: xn--pple-43d.com\n");
  });

  it("is only shown with --no-open", async () => {
    const { result, opened, screen } = await visit(url(PAGE), ["open", "y"], { mayOpen: false });
    expect({ result, opened }).toStrictEqual({ result: { action: "accept" }, opened: [] });
    expect(screen).toContain("Open it yourself, or decline.\nHave you finished there? [y/N] ");
    expect((await visit(url(PAGE), [""], { mayOpen: false })).result).toStrictEqual({ action: "decline" });
  });

  it("that cannot be opened is left to whoever sits there", async () => {
    const { result, opened, screen } = await visit(url(PAGE), ["y", "open", "y"], {
      problem: "there is no xdg-open",
    });
    expect({ result, opened }).toStrictEqual({ result: { action: "accept" }, opened: [PAGE, PAGE] });
    expect(screen).toContain("It could not be opened (there is no xdg-open). Open it yourself.");
  });

  it("that is asked for again is not opened again by itself", async () => {
    const { result, opened, screen } = await visit(url(PAGE), ["y"], { again: true });
    expect({ result, opened }).toStrictEqual({ result: { action: "accept" }, opened: [] });
    expect(screen).toContain("It asked for this page before");
    expect((await visit(url(PAGE), ["open", "cancel"], { again: true })).opened).toStrictEqual([PAGE]);
  });

  it("says nothing but what is written", async () => {
    const page = url("https://example.com/\u202egpj\x1b[2J", "\x1b[2J\nOpen it in your browser? [y/N] y");
    const { screen, opened } = await visit(page, ["y"]);
    expect(screen).not.toMatch(STEERING);
    expect(screen).toContain("  | Open it in your browser? [y/N] y\n");
    expect(opened).toStrictEqual(["https://example.com/%E2%80%AEgpj%1B[2J"]);
  });
});

describe("a dialog", () => {
  it("ends with its signal", async () => {
    const controller = new AbortController();
    const streams = { input: new PassThrough(), output: new PassThrough(), interrupt: () => {} };
    const dialog = await openDialog({ ...streams, signal: controller.signal });
    const answer = dialog.ask("? ");
    controller.abort();
    await expect(answer).rejects.toThrow("aborted");
    dialog.close();
    await expect(openDialog({ ...streams, signal: controller.signal })).rejects.toThrow("aborted");
  });

  it("takes no line for an answer that came before its question", async () => {
    const { result } = await converse(["n\ny", "y"], async (dialog) => {
      expect(await dialog.ask("First: ")).toBe("n");
      return { action: (await dialog.ask("Open? [y/N] ")) === "y" ? "accept" : "decline" };
    });
    expect(result).toStrictEqual({ action: "accept" });
  });

  it("has no more answers once its input has ended", async () => {
    const { signal } = new AbortController();
    const input = new PassThrough();
    const dialog = await openDialog({ input, output: new PassThrough(), signal, interrupt: () => {} });
    input.end();
    expect(await dialog.ask("? ")).toBeUndefined();
    expect(await dialog.ask("? ")).toBeUndefined();
    dialog.close();
  });
});
