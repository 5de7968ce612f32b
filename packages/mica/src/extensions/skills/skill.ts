/** A skill to serve: its files, and the entry that describes them (SEP-2640, Skill Entries). */
import type { Skill } from "../../protocol/skills.js";
import { digestOf } from "./digest.js";
import { SKILL_LIMITS } from "./entry.js";
import { type ParseYaml, readFrontmatter } from "./frontmatter.js";
import { mediaTypeOf } from "./media-type.js";

export interface SkillOptions {
  parseYaml: ParseYaml;
  /** Where the skill stands among others, e.g. `acme/billing`: its name is added. Default: nowhere in particular. */
  under?: string;
}

export interface ServedFile {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  readonly digest: string;
}

/** What {@link skill} and {@link readSkill} make. */
export interface ServedSkill {
  readonly entry: Skill;
  /** By URI. */
  readonly files: ReadonlyMap<string, ServedFile>;
}

const MANIFEST = "SKILL.md";

/**
 * Makes a skill of its files, by their paths within its directory.
 *
 * @throws TypeError naming what is wrong with it.
 * @example const refunds = await skill({ "SKILL.md": text }, { parseYaml: parse, under: "acme/billing" });
 */
export async function skill(
  files: Readonly<Record<string, string | Uint8Array>>,
  { parseYaml, under = "" }: SkillOptions,
): Promise<ServedSkill> {
  if (typeof parseYaml !== "function") throw new TypeError("skill: parseYaml must be a function");
  const manifest = Object.hasOwn(files, MANIFEST) ? files[MANIFEST] : undefined;
  if (manifest === undefined) throw new TypeError(`skill: there is no ${MANIFEST} among its files`);
  const frontmatter = frontmatterOf(textOf(manifest), parseYaml);
  const root = rootOf(under, frontmatter.name);
  const what = `skill ${JSON.stringify(frontmatter.name)}`;
  const served = new Map<string, ServedFile>();
  let total = 0;
  for (const [path, content] of Object.entries(files)) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    total += bytes.byteLength;
    const file = { bytes, mimeType: mediaTypeOf(path), digest: await digestOf(bytes) };
    served.set(`${root}/${encodePath(path, what)}`, file);
  }
  if (served.size > SKILL_LIMITS.maxFiles) {
    throw new TypeError(
      `${what} has ${served.size} files; no more than ${SKILL_LIMITS.maxFiles} need be accepted`,
    );
  }
  if (total > SKILL_LIMITS.maxBytes) {
    throw new TypeError(`${what} has ${total} bytes; no more than ${SKILL_LIMITS.maxBytes} need be accepted`);
  }
  const resources = [...served].map(([uri, { digest, bytes }]) => ({ uri, digest, size: bytes.byteLength }));
  return { entry: { uri: `${root}/${MANIFEST}`, frontmatter, resources }, files: served };
}

/**
 * Reads a skill from its directory, once.
 *
 * @throws TypeError naming what is wrong with it; errors of the file system as they are.
 * @example const skills = [await readSkill("skills/pdf-processing", { parseYaml: parse })];
 */
export async function readSkill(folder: string, options: SkillOptions): Promise<ServedSkill> {
  const [{ readdir, readFile }, { join, sep }] = await Promise.all([
    import("node:fs/promises"),
    import("node:path"),
  ]);
  const files: Record<string, Uint8Array> = {};
  // Links are left out: they may lead anywhere.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(join(folder, "x").length - 1).replaceAll(sep, "/")] = await readFile(path);
  }
  return skill(files, options);
}

function frontmatterOf(text: string | undefined, parseYaml: ParseYaml): Skill["frontmatter"] {
  if (text === undefined) throw new TypeError("skill: SKILL.md must be UTF-8");
  try {
    return readFrontmatter(text, parseYaml);
  } catch (cause) {
    throw new TypeError(`skill: ${(cause as Error).message}`, { cause });
  }
}

/** Undefined where the bytes are no text that would be the same bytes again. */
export function textOf(content: string | Uint8Array): string | undefined {
  if (typeof content === "string") return content;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

/** The first segment is the authority of the URI (SEP-2640, Resource Mapping). */
function rootOf(under: string, name: string): string {
  const segments = [...under.split("/").filter((segment) => segment !== ""), name];
  const bad = segments.find((segment) => !/^[A-Za-z0-9._~-]+$/.test(segment) || /^\.+$/.test(segment));
  if (bad !== undefined) {
    throw new TypeError(
      `skill: under must consist of A-Z a-z 0-9 . _ ~ - and /, got ${JSON.stringify(under)}`,
    );
  }
  return `skill://${segments.join("/")}`;
}

function encodePath(path: string, what: string): string {
  const segments = path.split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw new TypeError(`${what}: ${JSON.stringify(path)} is no path within its directory`);
  }
  return segments.map(encodeURIComponent).join("/");
}
