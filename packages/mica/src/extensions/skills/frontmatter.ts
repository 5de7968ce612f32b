/** The YAML frontmatter of a `SKILL.md` (SEP-2640, Frontmatter), read by the author's own YAML library. */
import { isObject } from "../../protocol/jsonrpc.js";
import type { Skill } from "../../protocol/skills.js";

/**
 * Reads YAML, as `parse` of the package `yaml` does.
 *
 * @example import { parse } from "yaml";
 */
export type ParseYaml = (text: string) => unknown;

const FRONTMATTER = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** 1 to 64 lower-case letters, digits and hyphens, none of which begins, ends or doubles (Agent Skills, name). */
const NAME = /^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/;

/** @throws Error saying what is wrong with it. */
export function readFrontmatter(text: string, parseYaml: ParseYaml): Skill["frontmatter"] {
  const yaml = FRONTMATTER.exec(text)?.[1];
  if (yaml === undefined)
    throw new Error("SKILL.md must begin with YAML frontmatter between two lines of ---");
  const parsed = parseYaml(yaml);
  // As JSON has it: dates, for one, become strings.
  const frontmatter: unknown = parsed === undefined ? undefined : JSON.parse(JSON.stringify(parsed));
  if (!isObject(frontmatter)) throw new Error("the frontmatter of SKILL.md must be a mapping");
  const { name, description } = frontmatter;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new Error(
      `the frontmatter of SKILL.md needs a name of 1 to 64 of a-z 0-9 and single hyphens, got ${JSON.stringify(name)}`,
    );
  }
  if (typeof description !== "string" || description === "") {
    throw new Error("the frontmatter of SKILL.md needs a description");
  }
  return frontmatter as Skill["frontmatter"];
}
