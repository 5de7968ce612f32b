/** Scripts against a server that asks: answers given beforehand, and what is said where there are none. */
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { type RunOptions, runProgram, STEERING } from "../run-command.js";

let built: Built;
let server: string;
beforeAll(async () => {
  built = await buildCommand();
  server = await bundle("./fixtures/asking-stdio.ts", join(built.directory, "server"));
});
afterAll(() => built?.remove());

const TIME = "2026-07-28T09:00:00Z";
const mica = (words: readonly string[], options?: RunOptions) =>
  runProgram(process.execPath, [built.path, ...words, "--", process.execPath, server], options);
const answers = (...given: string[]) => given.flatMap((answer) => ["--answer", answer]);
async function file(name: string, content: unknown): Promise<string> {
  const path = join(built.directory, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("a script", () => {
  it("answers every kind of field", async () => {
    const given = answers(
      "booking.name=Ada",
      "booking.email=ada@example.com",
      "booking.site=https://example.com/",
      "booking.day=2026-07-28",
      `booking.startsAt=${TIME}`,
      "booking.ratio=0.5",
      "booking.quiet=true",
      "booking.size=l",
      "booking.extras=jam",
      "booking.extras=tea",
    );
    const { code, stdout, stderr } = await mica(["call", "book", ...given]);
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toStrictEqual({
      action: "accept",
      content: {
        name: "Ada",
        email: "ada@example.com",
        site: "https://example.com/",
        day: "2026-07-28",
        startsAt: TIME,
        guests: 2,
        ratio: 0.5,
        quiet: true,
        size: "l",
        colour: "green",
        extras: ["jam", "tea"],
      },
    });
  });

  it("answers from a file, and single fields over it", async () => {
    const content = { name: "Ada", startsAt: TIME, size: "s" };
    const path = await file(
      "whole.json",
      `\ufeff${JSON.stringify({ booking: { action: "accept", content } })}`,
    );
    const exact = await mica(["call", "book", "--answers", path]);
    expect(JSON.parse(exact.stdout)).toStrictEqual({ action: "accept", content });
    const changed = await mica(["call", "book", "--answers", path, ...answers("booking.name=Bea")]);
    expect(JSON.parse(changed.stdout).content).toStrictEqual({ ...content, name: "Bea" });
  });

  it.each([
    ["call", ["call", "event"]],
    ["read", ["read", "host://secret"]],
    ["prompt", ["prompt", "invite"]],
  ])("answers in mica %s", async (_, words) => {
    const given = await mica([...words, ...answers(`when.startsAt=${TIME}`)]);
    expect(given).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining(`{"startsAt":"${TIME}"}`),
    });
    for (const action of ["decline", "cancel"]) {
      const { code, stdout } = await mica([...words, ...answers(`when=${action}`)]);
      expect({ code, stdout: stdout.trim() }).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(`${action}$`),
      });
    }
    const asked = await mica(words);
    expect(asked).toMatchObject({ code: 6, stdout: "" });
    expect(asked.stderr).toContain("--answer when.startsAt=...");
  });

  it("answers several rounds", async () => {
    const given = answers(`when.startsAt=${TIME}`, "pay=decline", "sure.yes=false");
    const { code, stdout } = await mica(["call", "two", ...given]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toStrictEqual({
      first: { when: { action: "accept", content: { startsAt: TIME } }, pay: { action: "decline" } },
      last: { action: "accept", content: { yes: false } },
    });
    const declined = JSON.parse(
      (await mica(["call", "two", "--decline", ...answers("sure.yes=true")])).stdout,
    );
    expect(declined.first).toStrictEqual({ when: { action: "decline" }, pay: { action: "decline" } });
    expect(declined.last).toMatchObject({ action: "accept" });
  });

  it("that does not answer is told what is asked, and how to answer: exit code 6", async () => {
    const { code, stdout, stderr } = await mica(["call", "two", ...answers("sure.yes=true")]);
    expect({ code, stdout }).toStrictEqual({ code: 6, stdout: "" });
    expect(stderr.split("\n")).toStrictEqual([
      "mica: the server asks for input that was not given:",
      '  when: "When?"',
      "  --answer when.startsAt=...  a date and time, like 2026-07-28T09:00:00Z, required",
      "  --answer when.note=...  text",
      "  --answer when=decline  to decline",
      '  pay: "Please pay." "https://pay.example.com/checkout?id=1"',
      "  --answer pay=accept  once you have opened it yourself",
      "  --answer pay=decline  to decline",
      "",
    ]);
  });

  it("that does not answer gets the input requests in its JSON", async () => {
    const { code, stdout } = await mica(["call", "two", "--json", ...answers("when=decline")]);
    expect(code).toBe(6);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({
      code: "input_needed",
      exitCode: 6,
      message: expect.stringContaining("pay"),
      problems: [{ path: "pay", message: 'not answered: "Please pay."' }],
    });
    expect(error.inputRequests).toStrictEqual({
      pay: {
        method: "elicitation/create",
        params: { mode: "url", message: "Please pay.", url: "https://pay.example.com/checkout?id=1" },
      },
    });
  });

  it("whose answer does not fit is told so before it is sent", async () => {
    const { code, stderr } = await mica(["call", "event", ...answers("when.startsAt=tomorrow")]);
    expect(code).toBe(6);
    expect(stderr).toBe(
      'mica: the answers that were given do not fit what the server asks for:\n  when.startsAt: expected a date and time, like 2026-07-28T09:00:00Z, got "tomorrow"\n',
    );
  });

  it("whose answer the server does not take is not asked for ever", async () => {
    const { code, stderr } = await mica(["call", "picky", ...answers("code.code=no")]);
    expect(code).toBe(6);
    expect(stderr).toMatch(
      /\n {2}code: the server asks again after the answer that was given: "Which code\?\\n\\n/,
    );
    expect(stderr).toContain("must match the pattern");
  });

  it("is told which answers nobody asked for", async () => {
    const { code, stdout, stderr } = await mica([
      "call",
      "picky",
      "--json",
      "--answers",
      await file("unused.json", { cod: "decline" }),
      ...answers("code.code=ok", "cdoe.code=x"),
    ]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      "mica: --answer cdoe.code: the server did not ask for it\nmica: --answers cod: the server did not ask for it\n",
    );
    expect(JSON.parse(stdout).warnings).toMatchObject([{ code: "answer_unused" }, { code: "answer_unused" }]);
  });

  it("sees the pages that it accepts, which are not opened", async () => {
    const page = (url: string) => mica(["call", "page", `url=${url}`, ...answers("page=accept")]);
    const { stdout, stderr } = await page("https://xn--pple-43d.com/x");
    expect(JSON.parse(stdout)).toStrictEqual({ action: "accept" });
    expect(stderr).toMatch(
      /^host \(.*\) asks you to open a page:\n {2}\| Please sign\.\n\n {2}https:\/\/xn--pple-43d\.com\/x\n/,
    );
    expect(stderr).toContain("Punycode");
    expect(stderr).toContain("mixes Latin and Cyrillic letters");
    expect(stderr).toMatch(/nothing is opened\.\n$/);
    const refused = await page("file:///etc/passwd");
    expect(JSON.parse(refused.stdout)).toStrictEqual({ action: "decline" });
    expect(refused.stderr).toContain('only http and https URLs are opened, not "file:"');
  });

  it("does not answer from a standard input that is no terminal", async () => {
    const { code, stdout } = await mica(["call", "event"], { stdin: `${TIME}\n\n\n` });
    expect({ code, stdout }).toStrictEqual({ code: 6, stdout: "" });
  });

  it("sees what a server slips in, and no terminal obeys it", async () => {
    const { code, stderr } = await mica(["call", "hostile"]);
    expect(code).toBe(6);
    expect(stderr).toContain("owned");
    expect(stderr).not.toMatch(STEERING);
    // Each question is one line, so that none can pose as another.
    expect(stderr.split("\n").filter((line) => line.startsWith("  q: "))).toHaveLength(1);
    expect(stderr).not.toMatch(/^ *Send\?/m);
  });
});

describe("the server", () => {
  it("is told what can be asked for", async () => {
    expect((await mica(["call", "can"])).stdout).toBe("elicit elicitUrl\n");
    expect((await mica(["call", "can", "--no-ask"])).stdout.trim()).toBe("");
    const withRoots = await mica(["call", "can", "--no-ask", "--root", built.directory]);
    expect(withRoots.stdout).toBe("roots\n");
  });

  it("is told of roots", async () => {
    const spaced = join(await realpath(built.directory), "a b");
    await mkdir(spaced, { recursive: true });
    const { code, stdout } = await mica(["call", "where", "--root", spaced, "--root", built.directory]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).roots).toMatchObject([
      { uri: pathToFileURL(spaced).href, name: "a b" },
      { uri: pathToFileURL(await realpath(built.directory)).href },
    ]);
  });

  it("is not started for what cannot be used", async () => {
    const broken = await file("broken.json", "{");
    for (const [words, message] of [
      [
        ["--answer", "when"],
        "--answer: expected KEY.FIELD=VALUE, KEY.FIELD:=JSON or KEY=accept|decline|cancel",
      ],
      [["--answers", join(built.directory, "nothing.json")], "--answers: cannot read "],
      [["--answers", broken], "--answers: expected JSON in "],
      [["--root", broken], "--root: cannot offer "],
      [["--no-ask", "--decline"], "--decline: contradicts --no-ask"],
      [["--no-ask", "--answer", "a=decline"], "--answer: contradicts --no-ask"],
    ] as const) {
      // A command that nobody has: it would be another exit code if it were started.
      const { code, stderr } = await runProgram(process.execPath, [
        built.path,
        "call",
        "event",
        ...words,
        "--",
        "mica-no-such-command",
      ]);
      expect({ words, code }).toStrictEqual({ words, code: 2 });
      expect(stderr).toContain(`mica: ${message}`);
    }
  });
});
