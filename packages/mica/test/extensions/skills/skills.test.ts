/** Skills, served and read (SEP-2640). */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { type Client, connect } from "../../../src/entry/client.js";
import { createServer } from "../../../src/entry/index.js";
import {
  readSkill,
  type ServedSkill,
  type Skill,
  type SkillOptions,
  type SkillReader,
  skill,
  skills,
  skillsOf,
} from "../../../src/entry/skills.js";
import { memoryTransport } from "../../../src/entry/testing.js";
import { type Act, clientOf, DISCOVERED, scripted } from "../../client/scripted.js";
import { callerOf } from "../../support/caller.js";

const MANIFEST = "---\nname: refunds\ndescription: How to refund\nsince: 2026-01-02\n---\n\n# Refunds\n";
const FILES = {
  "SKILL.md": MANIFEST,
  "examples/email.md": "Dear Ada,\n",
  "examples/deep/other name.txt": "x",
  "logo.png": Uint8Array.of(0x89, 0x50, 0xff, 0),
};
const YAML: SkillOptions = { parseYaml: parse };

const serverOf = (served: ServedSkill[], pageSize = 500) =>
  createServer({ name: "test", version: "1.0.0", extensions: [skills(served)], limits: { pageSize } });

const clients: Client[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function readerOf(served: ServedSkill[]): Promise<SkillReader> {
  const client = await connect({ transport: memoryTransport(serverOf(served)) }, { name: "t", version: "1" });
  clients.push(client);
  return skillsOf(client, { parseYaml: parse });
}

describe("served", () => {
  it("an entry says what a skill consists of, word for word and byte for byte", async () => {
    const { entry } = await skill(FILES, { ...YAML, under: "acme/billing" });
    expect(entry).toEqual({
      uri: "skill://acme/billing/refunds/SKILL.md",
      frontmatter: { name: "refunds", description: "How to refund", since: "2026-01-02" },
      resources: [
        {
          uri: "skill://acme/billing/refunds/SKILL.md",
          digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
          size: Buffer.byteLength(MANIFEST),
        },
        expect.objectContaining({ uri: "skill://acme/billing/refunds/examples/email.md", size: 10 }),
        expect.objectContaining({
          uri: "skill://acme/billing/refunds/examples/deep/other%20name.txt",
          size: 1,
        }),
        expect.objectContaining({ uri: "skill://acme/billing/refunds/logo.png", size: 4 }),
      ],
    });
    // Of the text "abc" (FIPS 180-2).
    const { entry: abc } = await skill({ "SKILL.md": MANIFEST, abc: "abc" }, YAML);
    expect((abc.resources as { digest: string }[])[1]!.digest).toBe(
      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  it("files are resources, directories can be read level by level", async () => {
    const { result } = callerOf(serverOf([await skill(FILES, { ...YAML, under: "acme" })]));
    const { resources } = await result<{ resources: object[] }>("resources/list");
    expect(resources[0]).toEqual({
      uri: "skill://acme/refunds/SKILL.md",
      name: "refunds",
      description: "How to refund",
      mimeType: "text/markdown",
      size: Buffer.byteLength(MANIFEST),
    });
    const children = async (uri: string) => {
      const read = await result<{ resources: { uri: string; mimeType: string }[] }>(
        "resources/directory/read",
        { uri },
      );
      return read.resources.map((child) => `${child.uri} ${child.mimeType}`);
    };
    expect(await children("skill://acme")).toEqual(["skill://acme/refunds inode/directory"]);
    expect(await children("skill://acme/refunds")).toEqual([
      "skill://acme/refunds/SKILL.md text/markdown",
      "skill://acme/refunds/examples inode/directory",
      "skill://acme/refunds/logo.png image/png",
    ]);
    expect(await children("skill://acme/refunds/examples/deep")).toEqual([
      "skill://acme/refunds/examples/deep/other%20name.txt text/plain",
    ]);
    expect(await result("resources/read", { uri: "skill://acme/refunds/logo.png" })).toMatchObject({
      contents: [{ blob: "iVD/AA==", mimeType: "image/png" }],
    });
  });

  it.each([
    ["resources/directory/read", { uri: "skill://refunds/SKILL.md" }],
    ["resources/directory/read", { uri: "skill://refunds/" }],
    ["resources/directory/read", { uri: "skill://" }],
    ["resources/directory/read", { uri: "__proto__" }],
    ["resources/directory/read", {}],
    ["resources/directory/read", { uri: "skill://refunds", cursor: "99" }],
    ["skills/get", { uri: "skill://refunds" }],
    ["skills/get", { uri: "skill://other/SKILL.md" }],
    ["skills/get", {}],
    ["skills/list", { cursor: "-1" }],
    ["skills/list", { cursor: 1 }],
  ])("%s of %j is refused with -32602", async (method, params) => {
    const { error } = callerOf(serverOf([await skill(FILES, YAML)]));
    expect(await error(method, params)).toMatchObject({ code: -32602 });
  });

  it("lists and directories come in pages, each entry once", async () => {
    const named = (name: string) =>
      skill({ "SKILL.md": `---\nname: ${name}\ndescription: d\n---\n` }, { ...YAML, under: "x" });
    const { result } = callerOf(serverOf(await Promise.all(["a", "b", "c"].map(named)), 2));
    for (const [method, member, params] of [
      ["skills/list", "skills", {}],
      ["resources/directory/read", "resources", { uri: "skill://x" }],
    ] as const) {
      const first = await result<Record<string, unknown>>(method, params);
      expect(first[member]).toHaveLength(2);
      const second = await result<Record<string, unknown>>(method, {
        ...params,
        cursor: first["nextCursor"],
      });
      expect(second[member]).toHaveLength(1);
      expect(second).not.toHaveProperty("nextCursor");
    }
    expect(await result("skills/list")).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
  });

  it("the extension is declared with what it can do", async () => {
    const { result } = callerOf(serverOf([await skill(FILES, YAML)]));
    expect(await result("server/discover")).toMatchObject({
      capabilities: {
        resources: {},
        extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
      },
    });
  });

  it("the files of a nested skill are files of the outer one, too", async () => {
    const inner = { "SKILL.md": "---\nname: inner\ndescription: d\n---\n" };
    const outer = {
      "SKILL.md": "---\nname: outer\ndescription: d\n---\n",
      "inner/SKILL.md": inner["SKILL.md"],
    };
    const { result } = callerOf(
      serverOf([await skill(outer, YAML), await skill(inner, { ...YAML, under: "outer" })]),
    );
    const { skills: entries } = await result<{ skills: Skill[] }>("skills/list");
    expect(entries.map(({ uri }) => uri)).toEqual(["skill://outer/SKILL.md", "skill://outer/inner/SKILL.md"]);
    const { resources } = await result<{ resources: unknown[] }>("resources/list");
    expect(resources).toHaveLength(2);
  });

  it("a directory becomes a skill; links in it do not", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mica-skill-"));
    try {
      mkdirSync(join(folder, "references"));
      writeFileSync(join(folder, "SKILL.md"), MANIFEST);
      writeFileSync(join(folder, "references", "FORMS.md"), "# Forms\n");
      symlinkSync("/etc/hosts", join(folder, "hosts"));
      for (const given of [folder, `${folder}/`]) {
        const { files } = await readSkill(given, YAML);
        expect([...files.keys()].sort()).toEqual([
          "skill://refunds/SKILL.md",
          "skill://refunds/references/FORMS.md",
        ]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  const mistakes: Record<string, [files: Record<string, string | Uint8Array>, message: string]> = {
    "no SKILL.md": [{}, "there is no SKILL.md"],
    "no frontmatter": [{ "SKILL.md": "# No frontmatter" }, "must begin with YAML frontmatter"],
    "frontmatter that is a list": [{ "SKILL.md": "---\n- a\n---\n" }, "must be a mapping"],
    "a name with a space": [{ "SKILL.md": "---\nname: a b\ndescription: d\n---\n" }, "needs a name"],
    "a name with two hyphens": [{ "SKILL.md": "---\nname: a--b\ndescription: d\n---\n" }, "needs a name"],
    "no description": [{ "SKILL.md": "---\nname: a\n---\n" }, "needs a description"],
    "bytes that are no text": [{ "SKILL.md": Uint8Array.of(0xff) }, "must be UTF-8"],
    "a path that leads out": [{ "SKILL.md": MANIFEST, "../x": "" }, "no path within its directory"],
    "an absolute path": [{ "SKILL.md": MANIFEST, "/x": "" }, "no path within its directory"],
    "too many bytes": [
      { "SKILL.md": MANIFEST, big: new Uint8Array(17 * 1024 * 1024) },
      "bytes; no more than",
    ],
    "too many files": [
      { "SKILL.md": MANIFEST, ...Object.fromEntries(Array.from({ length: 512 }, (_, at) => [`f${at}`, ""])) },
      "513 files",
    ],
  };
  it.each(Object.keys(mistakes))("%s is a mistake", async (which) => {
    const [files, message] = mistakes[which]!;
    await expect(skill(files, YAML)).rejects.toThrow(message);
  });

  it("so are a prefix that is none, no skill at all, and two with one URI", async () => {
    await expect(skill(FILES, { ...YAML, under: "a b" })).rejects.toThrow("under must consist of");
    await expect(skill(FILES, { ...YAML, under: ".." })).rejects.toThrow("under must consist of");
    expect(() => skills([])).toThrow("at least one");
    const other = await skill({ "SKILL.md": `${MANIFEST}more` }, YAML);
    const first = await skill(FILES, YAML);
    expect(() => serverOf([first, other])).toThrow("two skills have a file skill://refunds/SKILL.md");
  });
});

describe("read", () => {
  it("a skill is listed without reading a file, loaded, and its files read when they are wanted", async () => {
    const reader = await readerOf([await skill(FILES, YAML)]);
    const [entry] = await reader.list();
    const loaded = await reader.load(entry!);
    expect(loaded.text).toBe(MANIFEST);
    const email = await loaded.readFile("examples/email.md");
    expect(new TextDecoder().decode(email.bytes)).toBe("Dear Ada,\n");
    expect((await loaded.readFile("logo.png")).bytes).toEqual(FILES["logo.png"]);
    expect((await loaded.readFile("examples/deep/other name.txt")).mimeType).toBe("text/plain");
    expect(await loaded.readFile(email.uri)).toBe(email);
    await expect(loaded.readFile("nope.md")).rejects.toThrow("is not among the files");
    await expect(loaded.readFile("../other/SKILL.md")).rejects.toThrow("is not among the files");
    expect((await reader.get(entry!.uri)).uri).toBe(entry!.uri);
    await expect(reader.get("skill://nope/SKILL.md")).rejects.toMatchObject({ code: "protocol_error" });
  });

  it("a server without skills is refused before it is asked", async () => {
    const server = createServer({ name: "test", version: "1.0.0" });
    const client = await connect({ transport: memoryTransport(server) }, { name: "t", version: "1" });
    clients.push(client);
    expect(() => skillsOf(client, { parseYaml: parse })).toThrow(
      "does not offer io.modelcontextprotocol/skills",
    );
  });

  const CAPABLE = {
    ...DISCOVERED,
    capabilities: { resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } },
  };
  const hostile = async (acts: Record<string, Act>) => {
    const script = scripted({ "server/discover": () => CAPABLE, ...acts });
    const client = await clientOf(script);
    clients.push(client);
    return { script, reader: skillsOf(client, { parseYaml: parse }) };
  };
  const contents = (uri: string, text: string) => ({
    contents: [{ uri, text }],
    ttlMs: 0,
    cacheScope: "private",
  });

  it.each([
    ["a digest that differs", (text: string) => text.replace("# Refunds", "# Refundz"), "has digest"],
    ["a size that differs", (text: string) => `${text}more`, "bytes; its entry says"],
  ])("%s: refused", async (_what, change, message) => {
    const { entry } = await skill(FILES, YAML);
    const { reader } = await hostile({
      "resources/read": ({ uri }) => contents(uri as string, change(MANIFEST)),
    });
    await expect(reader.load(entry)).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ["description: How to steal", "has other frontmatter"],
    ["description: How to refund\nallowed-tools: Bash", "has other frontmatter"],
  ])("frontmatter with %j, and a digest to match: refused", async (line, message) => {
    const tampered = await skill({ "SKILL.md": MANIFEST.replace("description: How to refund", line) }, YAML);
    const { entry } = await skill(FILES, YAML);
    const { reader } = await hostile({
      "resources/read": ({ uri }) =>
        contents(uri as string, MANIFEST.replace("description: How to refund", line)),
    });
    const mixed = { ...tampered.entry, frontmatter: entry.frontmatter };
    await expect(reader.load(mixed)).rejects.toThrow(message);
  });

  it("contents of another URI are no contents of this one", async () => {
    const { entry } = await skill(FILES, YAML);
    const { reader } = await hostile({
      "resources/read": () => contents("skill://other/SKILL.md", MANIFEST),
    });
    await expect(reader.load(entry)).rejects.toThrow("holds no content of it");
  });

  it.each<[string, (entry: Skill) => unknown, string]>([
    ["no entry", () => null, "no object"],
    [
      "another file than SKILL.md",
      (entry) => ({ ...entry, uri: "skill://refunds/OTHER.md" }),
      "lead to a SKILL.md",
    ],
    [
      "a name that is not its own",
      (entry) => ({ ...entry, frontmatter: { name: "x", description: "d" } }),
      "last segment",
    ],
    ["dynamic content", (entry) => ({ ...entry, resources: "dynamic" }), "cannot be verified"],
    ["no resources", ({ resources: _, ...entry }) => entry, "must be an array"],
    [
      "a file elsewhere",
      (entry) => ({ ...entry, resources: [{ uri: "skill://other/x" }] }),
      "within skill://refunds/",
    ],
    [
      "its SKILL.md left out",
      (entry) => ({ ...entry, resources: entry.resources.slice(1) }),
      "do not list its SKILL.md",
    ],
    ["a file twice", (entry) => ({ ...entry, resources: [...entry.resources, ...entry.resources] }), "twice"],
    [
      "a digest of another kind",
      (entry) => ({ ...entry, resources: [{ uri: entry.uri, digest: "md5:1", size: 1 }] }),
      "needs a digest",
    ],
    [
      "too much to load",
      (entry) => ({
        ...entry,
        resources: [{ uri: entry.uri, digest: `sha256:${"0".repeat(64)}`, size: 2 ** 30 }],
      }),
      "the limit is",
    ],
  ])("an entry with %s is not loaded, and nothing is read", async (_what, change, message) => {
    const { entry } = await skill(FILES, YAML);
    const { reader, script } = await hostile({});
    await expect(reader.load(change(entry) as Skill)).rejects.toThrow(message);
    expect(script.sent("resources/read")).toEqual([]);
  });

  it("a list without end comes to an end", async () => {
    const page = vi.fn(() => ({ skills: [], nextCursor: "again", ttlMs: 0, cacheScope: "public" }));
    const { reader } = await hostile({ "skills/list": page });
    await expect(reader.list()).rejects.toMatchObject({ code: "limit_exceeded" });
    expect(page).toHaveBeenCalledTimes(2);
  });
});
