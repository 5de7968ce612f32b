/** `mica cost` against a catalogue whose every token is known. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { connect, type Tool } from "mica-mcp/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mica } from "../run-in-process.js";

const SERVER = fileURLToPath(new URL("../fixtures/dear-server.mjs", import.meta.url));
const target = (...switches: string[]) => ["--", process.execPath, SERVER, ...switches];
const tokens = (value: unknown) => countTokens(JSON.stringify(value), { disallowedSpecial: new Set() });
const read = ({ name, description, inputSchema }: Tool) => tokens({ name, description, inputSchema });
const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);

async function toolsOf(...switches: string[]): Promise<Tool[]> {
  const args = [SERVER, ...switches];
  await using client = await connect({ command: process.execPath, args }, { name: "test", version: "1" });
  return (await client.listTools()).tools;
}

async function cost(words: string[], ...switches: string[]) {
  const { code, stdout } = await mica(["cost", ...words, "--json", ...target(...switches)]);
  return { code, ...JSON.parse(stdout) };
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "mica-cost-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the catalogue", () => {
  it("costs what the compact JSON of name, description and input schema has tokens", async () => {
    const tools = await toolsOf();
    const { code, result } = await cost([]);
    expect(code).toBe(0);
    expect(result.tools.map(({ read }: { read: number }) => read)).toEqual(tools.map(read));
    expect(result.tools.map(({ listed }: { listed: number }) => listed)).toEqual(tools.map(tokens));
    expect(result.instructions).toBe(countTokens("Search before you write."));
    const inEvery = result.instructions + sum(tools.map(read));
    expect(result.total).toEqual({
      tools: { read: sum(tools.map(read)), listed: sum(tools.map(tokens)) },
      resources: tokens({ uri: "notes://all", name: "all" }),
      resourceTemplates: 0,
      prompts: tokens({ name: "week", description: "Plan a week." }),
      everyConversation: inEvery,
    });
    expect(result.share).toEqual({ window: 200_000, percent: Math.round(inEvery / 20) / 100 });
  });

  it("is one of what there is one of", async () => {
    const { stdout } = await mica(["cost", ...target()]);
    expect(stdout).toMatch(/^ {2}2 tools +\d/m);
    expect(stdout).toMatch(/^ {2}1 resource +\d/m);
    expect(stdout).toMatch(/^ {2}1 prompt +\d/m);
  });

  it("is taken apart by key: what each key adds", async () => {
    const [search] = await toolsOf();
    const { result } = await cost([]);
    const { keys } = result.tools[0];
    expect(Object.keys(keys)).toEqual(Object.keys(search as Tool));
    const { outputSchema: _, ...rest } = search as Tool;
    expect(keys.outputSchema).toBe(tokens(search) - tokens(rest));
  });

  it("could save what it is found to have less when it is cut by hand", async () => {
    const { result } = await cost([]);
    const cut = await cost([], "--cut");
    expect(result.savings.map(({ id }: { id: string }) => id).sort()).toEqual([
      "$schema",
      "additionalProperties",
      "descriptions",
      "outputSchema",
      "parameterDescriptions",
      "safeIntegers",
      "titles",
    ]);
    for (const { tools, listed } of result.savings) {
      expect(tools).toEqual(["search_notes"]);
      expect(listed).toBeGreaterThan(0);
    }
    expect(result.savings.find(({ id }: { id: string }) => id === "outputSchema").read).toBe(0);
    expect(cut.result.savings).toEqual([]);
    expect(cut.result.savedTogether).toEqual({ read: 0, listed: 0 });
    const { read, listed } = result.total.tools;
    expect(cut.result.total.tools).toEqual({
      read: read - result.savedTogether.read,
      listed: listed - result.savedTogether.listed,
    });
  });

  it("is compared with a window and a budget", async () => {
    const { result } = await cost([]);
    const all = result.total.everyConversation;
    const within = await cost(["--budget", String(all), "--window", String(2 * all)]);
    expect(within).toMatchObject({
      code: 0,
      result: { budget: { tokens: all, exceeded: false }, share: { window: 2 * all, percent: 50 } },
    });
    const over = await mica(["cost", "--budget", String(all - 1), ...target()]);
    expect(over.code).toBe(10);
    expect(over.stdout).toContain(`over the budget of ${all - 1} by 1\n`);
  });

  it("is printed in columns", async () => {
    const { code, stdout, stderr } = await mica(["cost", ...target()]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^\d+ tokens in every conversation \(0\.\d+ % of a window of 200000; o200k_base\)\n/,
    );
    expect(stdout).toMatch(
      /\ntool +read +listed +name +description +inputSchema +outputSchema +annotations +title\n/,
    );
    expect(stdout).toMatch(/\nsearch_notes( +\d+){8}\nreport( +\d+){8}\nall( +\d+){8}\n/);
    expect(stdout).toMatch(/\n +\d+ +\d+ {2}\$schema in the schemas: .* \(1 tool\)\n/);
    expect(stdout).toMatch(/\n +\d+ +\d+ {2}all of it together\n$/);
  });
});

it("words and keys of a server stay what they are", async () => {
  const { code, stdout } = await mica(["cost", ...target("--more")]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\ntool .* constructor\nsearch_notes( +\d+){9}\nspecial( +\d+){9}\n/);
  expect(stdout).not.toContain("\x1b");
});

describe("since then", () => {
  it("tools are added, removed, dearer, or as they were", async () => {
    const before = join(folder, "before.json");
    await writeFile(before, (await mica(["cost", "--json", ...target()])).stdout);
    const { result } = await cost(["--diff", before], "--cut", "--more");
    const [search] = await toolsOf();
    const [shorter, special] = await toolsOf("--cut", "--more");
    expect(result.difference).toMatchObject({
      tools: [
        { name: "search_notes", before: read(search as Tool), after: read(shorter as Tool) },
        { name: "special", before: null, after: read(special as Tool) },
        { name: "report", before: expect.any(Number), after: null },
      ],
      unchanged: 0,
    });
    const same = await cost(["--diff", before]);
    expect(same.result.difference).toMatchObject({ tools: [], unchanged: 2 });
    const { stdout } = await mica(["cost", "--diff", before, ...target("--cut", "--more")]);
    expect(stdout).toMatch(/\n-\d+ tokens since then: \d+ -> \d+\n/);
    expect(stdout).toMatch(/\n +\+\d+ +special +added\n +-\d+ +report +removed\n/);
  });

  it.each([
    ["no JSON", "nonsense", "what mica cost --json prints"],
    ["another verb", '{"mica":1,"verb":"tools","result":{}}', "what mica cost --json prints"],
    ["another version", '{"mica":2,"verb":"cost","result":{}}', "got version 2"],
    ["a failure", '{"mica":1,"verb":"cost","error":{}}', "got a failure"],
    [
      "another shape",
      '{"mica":1,"verb":"cost","result":{"encoding":"o200k_base","tools":3}}',
      "what mica cost",
    ],
  ])("%s is refused before anything is started", async (_, text, expected) => {
    const path = join(folder, "other.json");
    await writeFile(path, text);
    const { code, stderr } = await mica(["cost", "--diff", path, "--", "no-such-program"]);
    expect(code).toBe(2);
    expect(stderr).toContain("mica: --diff: ");
    expect(stderr).toContain(expected);
  });
});

describe("the result of a call", () => {
  it("costs its text and its structured content, and says what repeats", async () => {
    const { code, result } = await cost(["search_notes", "limit=1"]);
    expect(code).toBe(0);
    const value = { rows: [{ id: 1, name: "one" }] };
    const pretty = countTokens(JSON.stringify(value, null, 2));
    expect(result.call).toEqual({
      tool: "search_notes",
      isError: false,
      text: pretty,
      structuredContent: tokens(value),
      other: 0,
      uncounted: 1,
      savings: [
        { id: "prettyPrinted", what: expect.any(String), tokens: pretty - tokens(value) },
        { id: "repeated", what: expect.any(String), tokens: pretty },
      ],
    });
  });

  it("needs arguments that fit", async () => {
    const { code, stderr } = await mica(["cost", "search_notes", "limit=x", ...target()]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'mica: limit: expected an integer, got "x"\n' });
    expect((await mica(["cost", "limit=3", ...target()])).stderr).toContain(
      "expected TOOL before its arguments",
    );
  });
});

it("numbers out of bounds are refused", async () => {
  for (const [option, value] of [
    ["--window", "0"],
    ["--budget", "-1"],
    ["--budget", "1.5"],
  ] as const) {
    const { code, stderr } = await mica(["cost", `${option}=${value}`, ...target()]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${option}: expected a whole number`);
  }
});
