/** Shapes of the skills extension (SEP-2640): directories of instructions for a model, served as resources. */
import type { Resource } from "./features.js";
import type { CacheHints, PaginatedResult, Result } from "./types.js";

/** The identifier of the extension, in the capabilities of a server. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** The media type of a directory resource. */
export const DIRECTORY = "inode/directory";

/** A file of a skill. */
export interface SkillResource {
  uri: string;
  /** `sha256:` and 64 lower-case hexadecimal digits, of the raw bytes. */
  digest: string;
  /** Bytes of the raw content. */
  size: number;
}

/** The entry of a skill: all that is to be known before any of its files is read (SEP-2640, Skill Entries). */
export interface Skill {
  /** Of its `SKILL.md`. */
  uri: string;
  /** That of `SKILL.md`, word for word. */
  frontmatter: { name: string; description: string; [key: string]: unknown };
  /** Every file, each once; `dynamic` where contents are made when they are read. */
  resources: SkillResource[] | "dynamic";
}

export interface ListSkillsResult extends PaginatedResult, CacheHints {
  skills: Skill[];
}

export interface GetSkillResult extends Result, CacheHints {
  skill: Skill;
}

export interface ReadResourceDirectoryResult extends PaginatedResult {
  /** The direct children; subdirectories are of type `inode/directory`. */
  resources: Resource[];
}
