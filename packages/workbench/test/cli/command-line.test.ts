import { describe, expect, it } from "vitest";
import { asksForJson, readCommandLine } from "../../src/cli/command-line.js";
import { help } from "../../src/cli/help.js";
import { VERBS } from "../../src/cli/verbs.js";
import { targetName } from "../../src/engine/target.js";

const read = (...argv: string[]) => readCommandLine(argv, { TOKEN: "secret" });
const run = (...argv: string[]) => {
  const line = read(...argv);
  if (line.kind !== "run") throw new Error(`expected a run, got ${line.kind}`);
  return line;
};
const URL = "http://127.0.0.1:8931/mcp";

describe("targets", () => {
  it("are a URL, right after the verb", () => {
    const { target, operands, pairs } = run(
      "call",
      URL,
      "open",
      "title=x",
      "--header",
      "Authorization: Bearer a:b",
    );
    expect(target).toStrictEqual({ kind: "url", url: URL, headers: { Authorization: "Bearer a:b" } });
    expect(operands).toStrictEqual(["open"]);
    expect(pairs).toStrictEqual([{ name: "title", text: "x", raw: false }]);
  });

  it("are a command after --, whatever its words look like", () => {
    const { target, operands, options } = run(
      "call",
      "open",
      "title=x",
      "--env",
      "A=b=c",
      "--env",
      "TOKEN",
      "--",
      "node",
      "s.js",
      "--json",
      "--",
    );
    expect(target).toStrictEqual({
      kind: "command",
      command: "node",
      args: ["s.js", "--json", "--"],
      env: { A: "b=c", TOKEN: "secret" },
      cwd: undefined,
    });
    expect(operands).toStrictEqual(["open"]);
    expect(options.json).toBe(false);
  });

  it("may stand beside operands that are URLs", () => {
    expect(run("read", URL, "https://example.com/a").operands).toStrictEqual(["https://example.com/a"]);
    expect(run("read", "https://example.com/a", "--", "s").operands).toStrictEqual(["https://example.com/a"]);
  });

  it("are shown without secrets, as a shell would read them", () => {
    expect(targetName({ kind: "url", url: "https://me:pw@example.com/mcp?token=x", headers: {} })).toBe(
      "https://example.com/mcp",
    );
    const command = {
      kind: "command",
      command: "node",
      args: ["a b", "it's"],
      env: {},
      cwd: undefined,
    } as const;
    expect(targetName(command)).toBe("node 'a b' 'it'\\''s'");
  });
});

describe("options", () => {
  it("may stand anywhere before --", () => {
    expect(run("--json", "tools", URL).options.json).toBe(true);
    expect(run("tools", "--timeout=2.5", URL, "--log", "debug").options).toMatchObject({
      timeoutMs: 2500,
      logLevel: "debug",
    });
    expect(run("tools", URL, "--no-progress").options.progress).toBe(false);
    expect(run("tools", URL).options.progress).toBeUndefined();
    expect(run("call", URL, "t", "--args", "-").options.args).toBe("-");
  });

  it("ask for JSON even where the rest is wrong, but not for the command", () => {
    expect(asksForJson(["tools", "--json", "--what"])).toBe(true);
    expect(asksForJson(["tools", "--", "s", "--json"])).toBe(false);
  });
});

describe("what is wrong is named", () => {
  const wrong: [argv: string[], message: string][] = [
    [[], "expected a verb; mica --help lists them"],
    [
      ["tool", URL],
      `unknown verb "tool"; expected one of ${VERBS.map(({ name }) => name).join(", ")}. Did you mean "tools"?`,
    ],
    [[URL], `expected a verb before the target: mica probe ${URL}`],
    [["tools"], "target: expected a URL, or a command after --"],
    [["tools", "--"], "target: expected a command after --"],
    [
      ["tools", "server.js"],
      'target: expected a URL (http:// or https://) or a command after --, got "server.js"',
    ],
    [["tools", "localhost:8931/mcp"], "Did you mean http://localhost:8931/mcp?"],
    [["tools", "example.com/mcp"], "Did you mean http://example.com/mcp?"],
    [["call", "open", URL], "; the URL comes first, after call"],
    [["tools", "http://"], 'target: "http://" is not a valid URL'],
    [["tools", URL, "--", "node"], `target: expected one target, got the URL "${URL}" and a command`],
    [["tools", URL, "more"], 'mica tools takes no "more"'],
    [["call", URL], "expected TOOL after the target: mica call TARGET TOOL"],
    [["call", URL, "title=x"], 'expected TOOL before its arguments, got "title=x"'],
    [["call", URL, "open", "title"], 'expected name=value or name:=json, got "title"'],
    [["tools", URL, "--tiemout", "3"], 'unknown option "--tiemout". Did you mean "--timeout"?'],
    [["tools", URL, "-x"], 'unknown option "-x"; mica --help lists the options'],
    [
      ["tools", URL, "--timeout"],
      "--timeout: expected a value, --timeout SECONDS; one that begins with - is written --timeout=VALUE",
    ],
    [["tools", URL, "--json=yes"], "--json takes no value"],
    [["tools", URL, "--timeout", "0"], '--timeout: expected a number of seconds above 0, got "0"'],
    [["tools", URL, "--timeout", "5s"], '--timeout: expected a number of seconds above 0, got "5s"'],
    [
      ["tools", URL, "--log", "loud"],
      "--log: expected one of debug, info, notice, warning, error, critical, alert, emergency",
    ],
    [["tools", URL, "--args", "{}"], "--args: does not apply to mica tools"],
    [["tools", URL, "--answer", "a=decline"], "--answer: does not apply to mica tools"],
    [
      ["call", URL, "open", "--answer", "when=tomorrow"],
      '--answer: expected KEY.FIELD=VALUE, KEY.FIELD:=JSON or KEY=accept|decline|cancel, got "when=tomorrow"',
    ],
    [["read", URL, "a:b", "--no-ask", "--answers", "a.json"], "--answers: contradicts --no-ask"],
    [["tools", URL, "--progress", "--no-progress"], "--progress: contradicts --no-progress"],
    [["tools", URL, "--header", "nonsense"], "--header: expected 'Name: value'"],
    [["tools", URL, "--header", "a b: c"], "--header: expected 'Name: value', got the name \"a b\""],
    [["tools", URL, "--header", "a: b", "--header", "A: c"], "--header: A is given twice"],
    [
      ["tools", URL, "--header", "a: x\r\nb: y"],
      "--header: the value of a holds characters that cannot stand in a header",
    ],
    [["tools", URL, "--env", "A=b"], "--env: applies to a command, and the target is a URL"],
    [["tools", URL, "--cwd", "/"], "--cwd: applies to a command, and the target is a URL"],
    [["tools", "--header", "a: b", "--", "s"], "--header: applies to a URL, and the target is a command"],
    [
      ["tools", "--env", "NOT_SET", "--", "s"],
      "--env: NOT_SET has no value here to take over; write NOT_SET=value",
    ],
    [["tools", "--env", "=x", "--", "s"], '--env: expected NAME=value or NAME, got "=x"'],
  ];
  it.each(wrong)("%j", (argv, message) => {
    expect(() => read(...argv)).toThrow(message);
  });

  it.each(["X-Key: se\u0000cret", "secret"])(
    "keeps the value of the header %j out of the message",
    (header) => {
      let message = "";
      try {
        read("tools", URL, "--header", header);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toMatch(/^--header: /);
      expect(message).not.toContain("cret");
    },
  );
});

describe("answers", () => {
  it("are read in their order, before there is a question", () => {
    const words = [
      "--answer",
      "when.at=a=b",
      "--answer",
      "when.at:=1",
      "--answer=pay=decline",
      "--decline",
      "--no-open",
    ];
    const { options } = run("prompt", URL, "invite", ...words, "--root", "a", "--root", "b");
    expect(options).toMatchObject({
      ask: true,
      open: false,
      decline: true,
      answersFile: undefined,
      roots: ["a", "b"],
    });
    expect(options.answers).toStrictEqual([
      { name: "when.at", text: "a=b", raw: false },
      { name: "when.at", text: "1", raw: true },
      { name: "pay", text: "decline", raw: false },
    ]);
  });

  it("are none by default, and may be asked for", () => {
    const { options } = run("call", URL, "open");
    expect(options).toMatchObject({ ask: true, open: true, decline: false, answers: [], roots: [] });
  });
});

describe("help", () => {
  it("is asked for before anything else is checked", () => {
    expect(read("--help")).toStrictEqual({ kind: "help", verb: undefined });
    expect(read("call", "-h")).toMatchObject({ kind: "help", verb: { name: "call" } });
    expect(read("help", "call")).toMatchObject({ kind: "help", verb: { name: "call" } });
    expect(read("tools", "-V")).toStrictEqual({ kind: "version" });
  });

  it.each(VERBS)("of $name has an example that the command line accepts", (verb) => {
    const text = help(verb);
    expect(verb.examples.length).toBeGreaterThan(0);
    for (const example of verb.examples) {
      expect(text).toContain(example);
      const [command = ""] = example.split(" > ");
      const words = [...command.matchAll(/"([^"]*)"|([^\s"]+)("([^"]*)")?/g)].map(
        ([, quoted, plain = "", , inner = ""]) => quoted ?? plain + inner,
      );
      expect(words[0]).toBe("mica");
      const line = read(...words.slice(1));
      expect("verb" in line && line.verb?.name).toBe(verb.name);
    }
  });

  it("names the only kind of target that a verb is for, and no options of the other", () => {
    const login = help(VERBS.find(({ name }) => name === "login"));
    expect(login).toContain("  mica login URL [OPTIONS]\n\n");
    expect(login).not.toContain("COMMAND");
    expect(login).not.toContain("--env ");
    const start = help(VERBS.find(({ name }) => name === "start"));
    expect(start).not.toContain("mica start URL");
    expect(start).not.toContain("--header");
  });

  it("lists every verb and every exit code", () => {
    const text = help(undefined);
    for (const { name } of VERBS) expect(text).toMatch(new RegExp(`^  ${name} `, "m"));
    for (const code of [0, 1, 2, 3, 4, 5, 6, 70, 130]) expect(text).toMatch(new RegExp(`^  ${code} `, "m"));
  });
});
