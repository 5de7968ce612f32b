/** What a person sees on a terminal: colours, progress, and nothing that the server slips in. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand } from "../build-command.js";
import { fixture, runOnTerminal, runProgram, SCRIPT, STEERING, withoutOwnCodes } from "../run-command.js";

let built: Built | undefined;
beforeAll(async () => {
  built = await buildCommand();
});
afterAll(() => built?.remove());

const onTerminal = (args: readonly string[], env?: Record<string, string>) =>
  runOnTerminal(process.execPath, [(built as Built).path, ...args], env);

describe.skipIf(SCRIPT === undefined)("on a terminal", () => {
  it.each([
    ["a description", ["tools"], 0, "Says \\x1b[2J\\x1b]0;owned\\x07"],
    [
      "a description in full",
      ["tools", "--verbose"],
      0,
      "  Says \\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202ehidden\\u{e0041}",
    ],
    [
      "a result",
      ["call", "steer"],
      0,
      "before \\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202ehidden\\u{e0041} after\n",
    ],
    [
      "a failure",
      ["call", "fail"],
      1,
      "It did not work. \\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202ehidden\\u{e0041}",
    ],
    ["a refusal", ["call", "refuse"], 4, "No. \\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202ehidden\\u{e0041}"],
    [
      "a resource",
      ["read", "fixture://steer"],
      0,
      "before \\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202ehidden\\u{e0041} after\n",
    ],
    [
      "JSON",
      ["call", "steer", "--json"],
      0,
      '"before \\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u202ehidden\\udb40\\udc41 after"',
    ],
  ])("%s is shown, not obeyed", async (_, words, code, shown) => {
    const { code: actual, screen } = await onTerminal([...words, ...fixture()]);
    expect(actual).toBe(code);
    const text = withoutOwnCodes(screen);
    expect(text).toContain(shown);
    expect(text).not.toMatch(STEERING);
  });

  it("is obeyed by nobody in a pipe, where text stays as it is", async () => {
    const { stdout } = await runProgram(process.execPath, [
      (built as Built).path,
      "read",
      "fixture://steer",
      ...fixture(),
    ]);
    expect(stdout.startsWith("before \x1b[2J")).toBe(true);
  });

  it("has colours, unless they are declined", async () => {
    expect((await onTerminal(["prompts", ...fixture()])).screen).toContain("\x1b[1mprepare_week\x1b[22m");
    expect((await onTerminal(["call", "fail", ...fixture()])).screen).toContain("\x1b[31mIt did not work");
    expect((await onTerminal(["prompts", ...fixture()], { NO_COLOR: "" })).screen).toContain("\x1b[1m");
    const plain = "prepare_week  Plan the week.  focus, depth?\n";
    expect((await onTerminal(["prompts", ...fixture()], { NO_COLOR: "1" })).screen).toBe(plain);
    expect((await onTerminal(["prompts", "--no-color", ...fixture()])).screen).toBe(plain);
    expect((await onTerminal(["prompts", ...fixture()], { TERM: "dumb" })).screen).toBe(plain);
  });

  it("fits tables to its width", async () => {
    const { screen } = await onTerminal(["tools", "--no-color", ...fixture()]);
    const lines = screen.split("\n");
    expect(Math.max(...lines.map((line) => [...line].length))).toBe(100);
    expect(lines[0]).toMatch(/^open_incident {2}Open an incident .*…$/);
  });

  it("shows progress on one line, and takes it away", async () => {
    const { screen } = await onTerminal(["call", "steps", "--no-color", ...fixture()]);
    expect(screen).toContain("25% first step\r\x1b[2K");
    expect(screen.split("\r\x1b[2K").at(-1)).toBe("watched\n");
    expect(screen.split("\n")).toHaveLength(2);
    expect((await onTerminal(["call", "steps", "--no-progress", ...fixture()])).screen).toBe("unwatched\n");
  });

  it("says what it waits for, once that takes longer than a second", async () => {
    const waits = (...more: string[]) =>
      onTerminal(["tools", "--no-color", "--timeout", "2", ...more, ...fixture("--mute")]);
    const { screen } = await waits();
    const words = `waiting for ${fixture("--mute").slice(1).join(" ")}`.slice(0, 90);
    expect(screen.split("\r\x1b[2K")[0]).toContain(words);
    expect(screen.split("\r\x1b[2K").at(-1)).toMatch(/^mica: \S+ got no answer/);
    expect((await waits("--no-progress")).screen).not.toContain("waiting");
  });

  it("is spared binary content", async () => {
    const { code, screen } = await onTerminal(["read", "--no-color", "fixture://logo.png", ...fixture()]);
    expect({ code, screen }).toStrictEqual({
      code: 2,
      screen: "mica: fixture://logo.png is binary (image/png, 70 B); redirect the output, or use --out DIR\n",
    });
  });

  it("gets several contents with their names, each on a line of its own", async () => {
    const { screen } = await onTerminal(["read", "--no-color", "fixture://both", ...fixture()]);
    expect(screen).toBe("fixture://both/a\nfirst\nfixture://both/b\nsecond\n");
  });
});
