/** A person at a terminal, asked by a server: forms, pages, and all ways out. */
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { converse, KEY, type Step } from "../converse.js";
import { SCRIPT, STEERING, withoutOwnCodes } from "../run-command.js";

const onLinux = SCRIPT !== undefined;
const TIME = "2026-07-28T09:00:00Z";
let built: Built;
let server: string;
/** What the fake browser was given. */
let log: string;
let programs: string;

beforeAll(async () => {
  built = await buildCommand();
  server = await bundle("./fixtures/asking-stdio.ts", join(built.directory, "server"));
  log = join(built.directory, "opened");
  programs = join(built.directory, "programs");
  await mkdir(programs);
  const opener = join(programs, "xdg-open");
  await writeFile(opener, `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\nexit "\${OPENER_EXIT:-0}"\n`);
  await chmod(opener, 0o755);
});
beforeEach(() => rm(log, { force: true }));
afterAll(() => built?.remove());

const talk = (words: readonly string[], steps: readonly Step[], env: Record<string, string> = {}) =>
  converse([process.execPath, built.path, ...words, "--", process.execPath, server], steps, {
    PATH: `${programs}:${process.env["PATH"]}`,
    ...env,
  });
const opened = () => readFile(log, "utf8").catch(() => "");

/** What readline and the colours do to a screen, taken away. */
const plain = (screen: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is what this is for
  withoutOwnCodes(screen.replace(/\x1b\[\d*[CDGJ]/g, ""));
const enter = (seen: string, typed = ""): Step => [seen, `${typed}${KEY.enter}`];

describe.skipIf(!onLinux)("a form on a terminal", () => {
  it("is filled in, corrected, reviewed, changed and sent", async () => {
    const { code, screen } = await talk(
      ["call", "book", "--json", "--no-color"],
      [
        enter("  name: ", "A"),
        enter("  name: ", "Adaa"),
        enter("  email: ", "ada"),
        enter("  email: ", "ada@example.com"),
        enter("  site: ", "/skip"),
        enter("  day: ", ""),
        enter("  startsAt: ", "/back"),
        enter("  day: ", "2026-07-28"),
        enter("  startsAt: ", TIME),
        enter("  guests [2]: "),
        enter("  ratio: ", "0.5"),
        enter("  quiet (y/n) [no]: ", "y"),
        enter("  size: ", "2"),
        enter("  colour [green]: ", "red"),
        enter("  extras: ", "jam, 1"),
        enter("Send? ", "edit name"),
        // The key for the left, as an editor of lines knows it.
        ["  name [Adaa]: ", "Ad"],
        ["Ad", KEY.left],
        ["\x1b[1D", "n"],
        enter("And"),
        enter("Send? "),
      ],
    );
    expect(code).toBe(0);
    const result = JSON.parse(screen.slice(screen.indexOf("\n{") + 1));
    expect(JSON.parse(result.result.content[0].text)).toStrictEqual({
      action: "accept",
      content: {
        name: "And",
        email: "ada@example.com",
        day: "2026-07-28",
        startsAt: TIME,
        guests: 2,
        ratio: 0.5,
        quiet: true,
        size: "l",
        colour: "red",
        extras: ["jam", "tea"],
      },
    });
    const text = plain(screen);
    // Who asks: the name it has given itself, and the command that was started.
    expect(text).toMatch(/^\nhost \(.*main\.mjs\) asks:\n {2}\| A room for whom\?\n/);
    expect(text).toContain('  expected an email address, got "ada"\n');
    expect(text).toMatch(/\nYour answers to host \(.*main\.mjs\)\n {2}name {6}Adaa\n/);
  });

  it.each<[string, Step[], string]>([
    ["/decline", [enter("  startsAt: ", "/decline")], "decline\n"],
    ["/cancel", [enter("  startsAt: ", "/cancel")], "cancel\n"],
    ["Ctrl-D", [["  startsAt: ", KEY.ctrlD]], "cancel\n"],
    [
      "decline, once it is filled in",
      [enter("  startsAt: ", TIME), enter("  note: "), enter("Send? ", "decline")],
      "decline\n",
    ],
    [
      "Ctrl-D, once it is filled in",
      [enter("  startsAt: ", TIME), enter("  note: "), ["Send? ", KEY.ctrlD]],
      "cancel\n",
    ],
  ])("is left by %s", async (_, steps, result) => {
    const { code, screen } = await talk(["call", "event"], steps);
    expect(code).toBe(0);
    expect(plain(screen).endsWith(`\n${result}`)).toBe(true);
  });

  it("is interrupted by Ctrl-C, and with it the command", async () => {
    const { code, screen } = await talk(["call", "event"], [["  startsAt: ", KEY.ctrlC]]);
    expect(code).toBe(130);
    expect(plain(screen).endsWith("\nmica: interrupted\n")).toBe(true);
  });

  it("is also asked for by mica read and mica prompt", async () => {
    const steps = [enter("  startsAt: ", TIME), enter("  note: ", "x"), enter("Send? ")];
    const content = `{"startsAt":"${TIME}","note":"x"}`;
    expect(plain((await talk(["read", "host://secret"], steps)).screen).endsWith(`secret ${content}\n`)).toBe(
      true,
    );
    expect(plain((await talk(["prompt", "invite"], steps)).screen).endsWith(`user:\n${content}\n`)).toBe(
      true,
    );
  });

  it("is asked for again with what was answered, until the server is content", async () => {
    const { code, screen } = await talk(
      ["call", "picky"],
      [enter("  code: ", "no"), enter("Send? "), enter("  code [no]: ", "ok"), enter("Send? ")],
    );
    expect(code).toBe(0);
    expect(plain(screen)).toContain("  | Which code?\n  |\n  | The last answer does not fit: code: ");
    expect(plain(screen)).toContain('{"action":"accept","content":{"code":"ok"}}');
  });

  it("has what was given beforehand filled in, and is not shown where that is all", async () => {
    const some = await talk(
      ["call", "event", "--answer", "when.note=mine"],
      [enter("  startsAt: ", TIME), enter("  note [mine]: "), enter("Send? ")],
    );
    expect(plain(some.screen).endsWith(`\n{"note":"mine","startsAt":"${TIME}"}\n`)).toBe(true);
    const all = await talk(["call", "event", "--answer", `when.startsAt=${TIME}`], []);
    expect(plain(all.screen)).toBe(`{"startsAt":"${TIME}"}\n`);
  });

  it("goes with others, one at a time, round by round", async () => {
    const { code, screen } = await talk(
      ["call", "two"],
      [
        enter("  startsAt: ", "/decline"),
        enter("Open it in your browser? [y/N] ", "n"),
        enter("  yes (y/n): ", "y"),
        enter("Send? ", "y"),
      ],
    );
    expect(code).toBe(0);
    expect(plain(screen)).toContain(
      '{"first":{"when":{"action":"decline"},"pay":{"action":"decline"}},"last":{"action":"accept","content":{"yes":true}}}',
    );
    expect(await opened()).toBe("");
  });

  it("shows what the server slips in, and obeys none of it", async () => {
    const shown = "\\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202ehidden\\u{e0041}";
    const { code, screen } = await talk(
      ["call", "hostile"],
      [enter("  f [V "), enter("  c: ", "1"), enter("Send? [Y/n/edit", "decline")],
    );
    expect(code).toBe(0);
    const text = plain(screen);
    expect(text).not.toMatch(STEERING);
    expect(text).toContain(`  | Line one\n  | Send? [Y/n] ${shown}\n`);
    expect(text).toContain(`T ${shown} (optional): text\n  | D ${shown}\n`);
    expect(text).toContain(`    1  C ${shown} (x${shown})\n`);
  });

  it("asks nobody where standard input gives the arguments, or answers are to be declined", async () => {
    const declined = await talk(["call", "event", "--decline"], []);
    expect(plain(declined.screen)).toBe("decline\n");
    const piped = await talk(["call", "event", "--args", "-"], [["", `{}\r${KEY.ctrlD}`]]);
    expect(piped.code).toBe(6);
  });
});

describe.skipIf(!onLinux)("a page on a terminal", () => {
  const page = (url: string, ...options: string[]) => ["call", "page", `url=${url}`, ...options];
  const PAGE = "https://pay.example.com/a?b=1&c=$(id)#d";

  it("is opened after a yes", async () => {
    const { code, screen } = await talk(page(PAGE), [enter("Open it in your browser? [y/N] ", "y")]);
    expect(code).toBe(0);
    expect(await opened()).toBe(`${PAGE}\n`);
    expect(plain(screen)).toContain(`\n  ${PAGE}\n  Host: pay.example.com\nOpen it in your browser? [y/N] `);
    expect(plain(screen).endsWith('{"action":"accept"}\n')).toBe(true);
  });

  it("has its host set apart", async () => {
    const { screen } = await talk(page(PAGE), [enter("Open it in your browser? [y/N] ", "n")], {
      NO_COLOR: "",
    });
    expect(screen).toContain("\n  https://\x1b[1mpay.example.com\x1b[22m/a?b=1&c=$(id)#d\n");
  });

  it.each<[string, Step, string]>([
    ["Enter", enter("[y/N] "), "decline"],
    ["n", enter("[y/N] ", "n"), "decline"],
    ["cancel", enter("[y/N] ", "cancel"), "cancel"],
    ["Ctrl-D", ["[y/N] ", KEY.ctrlD], "cancel"],
  ])("is not opened after %s", async (_, step, action) => {
    const { screen } = await talk(page(PAGE), [step]);
    expect(plain(screen).endsWith(`{"action":"${action}"}\n`)).toBe(true);
    expect(await opened()).toBe("");
  });

  it("is not opened after Ctrl-C", async () => {
    const { code } = await talk(page(PAGE), [["[y/N] ", KEY.ctrlC]]);
    expect(code).toBe(130);
    expect(await opened()).toBe("");
  });

  it("is not opened by what was typed before it was shown", async () => {
    // Typed as soon as the command runs, long before there is a question.
    const { screen } = await talk(page(PAGE), [["", "y\ry\r"], enter("[y/N] ", "n")]);
    expect(plain(screen).endsWith('{"action":"decline"}\n')).toBe(true);
    expect(await opened()).toBe("");
  });

  it("comes with its warnings", async () => {
    const { screen } = await talk(page("https://xn--pple-43d.com/"), [enter("[y/N] ", "n")]);
    const text = plain(screen);
    expect(text.indexOf("reads \u0430pple.com")).toBeGreaterThan(0);
    expect(text.indexOf("mixes Latin and Cyrillic")).toBeLessThan(text.indexOf("Open it in"));
  });

  it("is only shown with --no-open, or when it was accepted beforehand", async () => {
    const shown = await talk(page(PAGE, "--no-open"), [enter("Have you finished there? [y/N] ", "y")]);
    expect(plain(shown.screen).endsWith('{"action":"accept"}\n')).toBe(true);
    const given = await talk(page(PAGE, "--answer", "page=accept"), []);
    expect(plain(given.screen)).toContain(`  ${PAGE}\n`);
    expect(await opened()).toBe("");
  });

  it("of another scheme is declined, and handed to no program", async () => {
    const { screen } = await talk(page("file:///etc/passwd"), []);
    expect(plain(screen)).toContain('Declined: only http and https URLs are opened, not "file:".');
    expect(plain(screen).endsWith('{"action":"decline"}\n')).toBe(true);
    expect(await opened()).toBe("");
  });

  it("that cannot be opened is left to whoever sits there", async () => {
    const steps = [
      enter("Open it in your browser? [y/N] ", "y"),
      enter("Have you finished there? [y/N/open] ", "y"),
    ];
    const { screen } = await talk(page(PAGE), steps, { OPENER_EXIT: "3" });
    expect(plain(screen)).toContain(
      "It could not be opened (xdg-open ended with exit code 3). Open it yourself.",
    );
    expect(plain(screen).endsWith('{"action":"accept"}\n')).toBe(true);
  });
});
