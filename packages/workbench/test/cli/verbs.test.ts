/** Every verb against a server made by hand, over both transports. */
import { mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand } from "../build-command.js";
import { PNG } from "../fixtures/answers.mjs";
import { listen } from "../fixtures/http-server.js";
import { fixture, type RunOptions, runProgram, STEERING } from "../run-command.js";

let built: Built;
let http: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  [built, http] = await Promise.all([buildCommand(), listen()]);
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close()]);
});

const mica = (args: readonly string[], options?: RunOptions) =>
  runProgram(process.execPath, [built.path, ...args], options);
/** Runs it, and expects it to say nothing on stderr and to end well. */
const output = async (...args: string[]) => {
  const { code, stdout, stderr } = await mica(args);
  expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "" });
  return stdout;
};
const json = async (...args: string[]) => JSON.parse(await output(...args, "--json"));

describe.each([
  ["a command", () => ({ first: [] as string[], last: fixture() })],
  ["a URL", () => ({ first: [`${http.origin}/mcp`], last: [] as string[] })],
])("against %s", (_, target) => {
  const ask = (verb: string, ...words: string[]) =>
    output(verb, ...target().first, ...words, ...target().last);

  it("probe tells what the server is", async () => {
    const text = await ask("probe");
    expect(text).toMatch(/^fixture 1\.2\.3 A fixture\n/);
    expect(text).toContain("protocol      2026-07-28; the server speaks 2026-07-28\n");
    expect(text).toContain("capabilities  tools (listChanged), resources, prompts, logging\n");
    expect(text).toContain("offers        12 tools, 4 resources, 1 resource template, 1 prompt\n");
    expect(text).toMatch(/discovered in \d+ ms\n/);
    expect(text).toContain("    Open incidents early.\n");
    expect(text).toContain("... 13 more lines; --verbose shows them");
  });

  it("tools lists them in columns", async () => {
    const lines = (await ask("tools")).split("\n");
    expect(lines[0]).toMatch(
      /^open_incident {2}Open an incident {2,}title: string, severity: sev1\|sev2\|sev3, limit\?: integer, tags\?: string\[\], owner\?: string\|null, /,
    );
    expect(lines[1]).toBe("everything     Returns one block of every kind.");
  });

  it("tools --verbose shows everything", async () => {
    const text = await ask("tools", "--verbose");
    expect(text).toContain("  Opens an incident.\n  Second line of the description.\n");
    expect(text).toContain('  annotations {"readOnlyHint":false}\n');
    expect(text).toContain('        "description": "How bad it is."\n');
  });

  it("call types its arguments by the schema", async () => {
    const words = [
      "title=Queue = full",
      "severity=sev2",
      "limit=5",
      "tags=a",
      "tags=b",
      "owner=null",
      "ratio=1e-1",
      "urgent=true",
    ];
    const text = await ask("call", "open_incident", ...words, "place.city=Bern", "place.floor=-1");
    expect(text.endsWith("\n")).toBe(true);
    expect(JSON.parse(text)).toStrictEqual({
      title: "Queue = full",
      severity: "sev2",
      limit: 5,
      tags: ["a", "b"],
      owner: null,
      ratio: 0.1,
      urgent: true,
      place: { city: "Bern", floor: -1 },
    });
  });

  it("call shows each kind of content", async () => {
    expect((await ask("call", "everything")).split("\n")).toStrictEqual([
      "Some text.",
      "[image image/png, 70 B]",
      "[audio audio/wav, 3 B]",
      "[link fixture://notes, notes, text/plain, 12 B]",
      "[resource fixture://a.txt]",
      "embedded text",
      "[resource ../../etc/passwd, image/png, 70 B]",
      '[{"type":"hologram","depth":3}]',
      "",
    ]);
  });

  it("call shows structured content unless a text says the same", async () => {
    expect(await ask("call", "structured")).toBe('Three rows.\n{\n  "rows": 3\n}\n');
    expect(await ask("call", "structured", "--args", '{"same":true}')).toBe('{"rows": 3}\n');
  });

  it("resources lists them and their templates", async () => {
    expect((await ask("resources")).split("\n")).toStrictEqual([
      "Resources",
      "fixture://notes     Notes  text/plain  12 B",
      "fixture://logo.png  logo   image/png   70 B",
      "fixture://both      both",
      "fixture://steer     steer",
      "",
      "Templates",
      "fixture://day/{date}  day",
      "",
    ]);
  });

  it("read writes a text as it is", async () => {
    expect(await ask("read", "fixture://notes")).toBe("line 1\nno newline");
    expect(await ask("read", "fixture://both")).toBe("first\nsecond");
  });

  it("read writes bytes as they are", async () => {
    const { first, last } = target();
    const { bytes } = await mica(["read", ...first, "fixture://logo.png", ...last]);
    expect(bytes).toStrictEqual(Buffer.from(PNG, "base64"));
  });

  it("prompts lists them", async () => {
    expect(await ask("prompts")).toBe("prepare_week  Plan the week.  focus, depth?\n");
    expect(await ask("prompts", "--verbose")).toBe(
      "prepare_week\n  Plan the week.\n  focus: What matters most.\n  depth?\n",
    );
  });

  it("prompt shows the messages", async () => {
    expect(await ask("prompt", "prepare_week", "focus=writing")).toBe(
      "user:\nFocus: writing.\n\nassistant:\n[image image/png, 70 B]\n",
    );
  });

  it("call reports progress where it is asked to, and log messages", async () => {
    const { first, last } = target();
    const { stdout, stderr, code } = await mica([
      "call",
      ...first,
      "steps",
      "--progress",
      "--log",
      "info",
      ...last,
    ]);
    expect({ code, stdout, stderr }).toStrictEqual({
      code: 0,
      stdout: "watched\n",
      stderr: "25% first step\n100% last step\n[warning steps] a log message\n",
    });
    expect(await ask("call", "steps")).toBe("unwatched\n");
  });

  it("call --verbose shows notifications", async () => {
    const { first, last } = target();
    const { stderr } = await mica([
      "call",
      ...first,
      "steps",
      "--verbose",
      "--progress",
      "--log",
      "info",
      ...last,
    ]);
    expect(stderr).toBe("25% first step\n100% last step\n[warning steps] a log message\n");
    const silent = await mica(["call", ...first, "steps", "--verbose", "--args", '{"_":1}', ...last]);
    expect(silent.stderr).toBe("");
  });
});

describe("--json", () => {
  it("has one shape for every verb", async () => {
    const words: Record<string, string[]> = {
      probe: [],
      tools: [],
      call: ["structured"],
      resources: [],
      read: ["fixture://notes"],
      prompts: [],
      prompt: ["prepare_week", "focus=x"],
    };
    for (const [verb, operands] of Object.entries(words)) {
      const { stdout } = await mica([verb, ...operands, "--json", ...fixture()]);
      expect(stdout.split("\n")).toHaveLength(2);
      const printed = JSON.parse(stdout);
      expect(Object.keys(printed), verb).toStrictEqual([
        "mica",
        "verb",
        "server",
        "protocolVersion",
        "result",
        "warnings",
      ]);
      expect(printed).toMatchObject({
        mica: 1,
        verb,
        server: { name: "fixture", version: "1.2.3", title: "A fixture" },
        protocolVersion: "2026-07-28",
        warnings: [],
      });
    }
  });

  it("holds results as the server gave them", async () => {
    const url = `${http.origin}/mcp`;
    expect((await json("call", url, "structured")).result).toMatchObject({
      content: [{ type: "text", text: "Three rows." }],
      structuredContent: { rows: 3 },
    });
    const { result: probed } = await json("probe", `${url}?token=secret`);
    expect(probed).toMatchObject({
      target: url,
      supportedVersions: ["2026-07-28"],
      counts: {
        tools: { entries: 12, complete: true },
        resources: { entries: 4, complete: true },
        resourceTemplates: { entries: 1, complete: true },
        prompts: { entries: 1, complete: true },
      },
      problems: [],
    });
    expect(probed.discoverMs).toBeGreaterThan(0);
    const { result: listed } = await json("resources", url);
    expect(Object.keys(listed)).toStrictEqual(["resources", "resourceTemplates", "complete", "leftOut"]);
    expect((await json("read", url, "fixture://logo.png")).result.contents[0].blob).toBe(PNG);
    expect((await json("tools", url)).result.tools[0].inputSchema.required).toStrictEqual([
      "title",
      "severity",
    ]);
  });

  it("keeps steering characters out of what a terminal may see", async () => {
    const { stdout } = await mica(["call", "steer", "--json", ...fixture()]);
    expect(stdout).not.toMatch(STEERING);
    expect(JSON.parse(stdout).result.content[0].text).toContain("\x1b[2J");
  });
});

describe("--args", () => {
  const given = async (args: readonly string[], options?: RunOptions) => {
    const { code, stdout, stderr } = await mica(["call", "open_incident", ...args, ...fixture()], options);
    return code === 0 ? JSON.parse(stdout) : stderr;
  };

  it("sends an object unchecked, from the line, a file or standard input", async () => {
    const odd = '{"title":5,"unknown":[null],"__proto__":1}';
    const expected = JSON.parse(odd);
    expect(await given(["--args", odd])).toStrictEqual(expected);
    const file = join(built.directory, "arguments.json");
    await writeFile(file, `\ufeff${odd}`);
    expect(await given(["--args", `@${file}`])).toStrictEqual(expected);
    expect(await given(["--args", "-"], { stdin: odd })).toStrictEqual(expected);
  });

  it("lets pairs set single members", async () => {
    expect(await given(["--args", '{"title":"a","limit":"x"}', "limit=3", "severity:=null"])).toStrictEqual({
      title: "a",
      limit: 3,
      severity: null,
    });
  });

  it.each([
    [["--args", "{oops"], "mica: --args: expected JSON: "],
    [["--args", "[1]"], "mica: --args: expected a JSON object, got [1]\n"],
    [["--args", "-"], "mica: --args: expected JSON on standard input: "],
    [["--args", "@/nowhere/at/all.json"], 'mica: --args: cannot read "/nowhere/at/all.json": ENOENT'],
  ])("refuses %j", async (args, message) => {
    expect(await given(args, { stdin: "" })).toMatch(
      new RegExp(`^${message.replace(/[[\](){}.*+?^$|\\]/g, "\\$&")}`),
    );
  });
});

describe("--out", () => {
  it("saves what is not text, under safe names, and overwrites nothing", async () => {
    const directory = join(built.directory, "saved");
    const first = await output("call", "everything", "--out", directory, ...fixture());
    expect(first).toContain(`[image image/png, 70 B] saved as ${join(directory, "everything.png")}\n`);
    expect(first).toContain(
      `[resource ../../etc/passwd, image/png, 70 B] saved as ${join(directory, "passwd.png")}\n`,
    );
    expect(await readFile(join(directory, "everything.png"))).toStrictEqual(Buffer.from(PNG, "base64"));
    const { result } = await json("call", `${http.origin}/mcp`, "everything", "--out", directory);
    expect(result.saved).toStrictEqual(
      ["everything-2.png", "everything-2.wav", "passwd-2.png"].map((name) => join(directory, name)),
    );
    expect((await readdir(directory)).sort()).toStrictEqual(
      [
        "everything.png",
        "everything.wav",
        "passwd.png",
        "everything-2.png",
        "everything-2.wav",
        "passwd-2.png",
      ].sort(),
    );
  });

  it("saves a resource, and says where", async () => {
    const directory = join(built.directory, "read");
    expect(await output("read", "fixture://notes", "--out", directory, ...fixture())).toBe(
      `${join(directory, "notes.txt")}\n`,
    );
    expect(await readFile(join(directory, "notes.txt"), "utf8")).toBe("line 1\nno newline");
  });

  it("saves what a prompt holds", async () => {
    const directory = join(built.directory, "prompt");
    await output("prompt", "prepare_week", "focus=x", "--out", directory, ...fixture());
    expect(await readdir(directory)).toStrictEqual(["prepare_week.png"]);
  });
});

describe("what a target is given", () => {
  it("a URL its headers", async () => {
    http.seen.length = 0;
    await output(
      "call",
      `${http.origin}/mcp`,
      "everything",
      "--header",
      "X-Api-Key: abc",
      "--header",
      "Authorization: Bearer x",
    );
    expect(http.seen.length).toBeGreaterThan(1);
    for (const headers of http.seen)
      expect(headers).toMatchObject({ "x-api-key": "abc", authorization: "Bearer x" });
    expect(http.seen.at(-1)).toMatchObject({
      "mcp-method": "tools/call",
      "mcp-name": "everything",
      "mcp-protocol-version": "2026-07-28",
    });
  });

  it("a command its variables and directory, and no other secrets", async () => {
    const directory = join(built.directory, "elsewhere");
    await mkdir(directory);
    const words = [
      "call",
      "everything",
      "--args",
      "{}",
      "--cwd",
      directory,
      "--env",
      "GIVEN=a=b",
      "--env",
      "PASSED",
    ];
    const { stdout } = await mica([...words, ...fixture("--environment")], {
      env: { PASSED: "on", SECRET: "kept" },
    });
    const { cwd, env } = JSON.parse(stdout);
    expect(cwd).toBe(await realpath(directory));
    expect(env).toMatchObject({ GIVEN: "a=b", PASSED: "on" });
    expect(env).not.toHaveProperty("SECRET");
  });
});

describe("a server that misbehaves a little", () => {
  it("is warned of when it writes prose to its stdout", async () => {
    const { code, stdout, stderr } = await mica(["call", "structured", "--json", ...fixture("--stray")]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^mica: The server wrote something else than messages to its stdout: Server started /,
    );
    expect(stderr).not.toMatch(STEERING);
    expect(JSON.parse(stdout).warnings).toMatchObject([{ code: "stray_output" }]);
  });

  it("may talk on stderr, which --verbose shows", async () => {
    const words = ["call", "structured"];
    expect((await mica([...words, ...fixture("--chatty")])).stderr).toBe("");
    const { stderr } = await mica([...words, "--verbose", ...fixture("--chatty")]);
    expect(stderr).toMatch(/^\[server\] listening \\x1b\[2J/m);
    expect(stderr).not.toMatch(STEERING);
  });

  it("need not know of templates", async () => {
    const { code, stdout, stderr } = await mica(["resources", ...fixture("--no-templates")]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^fixture:\/\/notes /);
    expect(stderr).toContain("mica: The server does not list resource templates: ");
  });

  it("has the rest of its tools listed where some are invalid, and those named", async () => {
    const { code, stdout, stderr } = await mica(["tools", `${http.origin}/odd`, "--json"]);
    expect(code).toBe(0);
    const { result, warnings } = JSON.parse(stdout);
    expect(result.tools).toHaveLength(1);
    expect(result.leftOut).toMatchObject([{ name: "scored" }, { name: "shape\x1bless" }]);
    expect(warnings).toMatchObject([{ code: "entry_left_out" }, { code: "entry_left_out" }]);
    expect(stderr).toMatch(/^mica: The tool "scored" was left out of tools\/list: .*\nmica: The tool "shape/);
    expect(stderr).not.toMatch(STEERING);
    const called = await mica(["call", `${http.origin}/odd`, "scored", "score=1"]);
    expect(called.code).toBe(4);
    expect(called.stderr).toContain('mica: The server\'s definition of the tool "scored" is invalid: ');
  });

  it("has what it listed shown where its list never ends, and is warned of", async () => {
    const { code, stdout, stderr } = await mica(["tools", `${http.origin}/endless`, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      result: { complete: false },
      warnings: [{ code: "list_cut" }],
    });
    expect(stderr).toMatch(/^mica: tools\/list was cut after /);
  });

  it("may offer nothing", async () => {
    expect(await output("probe", ...fixture("--bare"))).toMatch(
      /capabilities {2}none\n {2}offers {8}nothing to list\n/,
    );
  });
});
