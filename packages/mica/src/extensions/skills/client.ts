/** Skills as a client meets them (SEP-2640): listed, and loaded only when they are wanted and what they say they are. */
import type { Client } from "../../client/client.js";
import type { CallOptions } from "../../client/options.js";
import { ErrorCode, McpError, ProtocolError } from "../../protocol/errors.js";
import { isObject } from "../../protocol/jsonrpc.js";
import { SKILLS_EXTENSION, type Skill, type SkillResource } from "../../protocol/skills.js";
import { equals } from "../../schema/values.js";
import { digestOf } from "./digest.js";
import { entryProblem } from "./entry.js";
import { type ParseYaml, readFrontmatter } from "./frontmatter.js";

/** A file that is what its entry says. */
export interface SkillFile {
  readonly uri: string;
  readonly mimeType: string | undefined;
  readonly bytes: Uint8Array;
}

/** A skill whose `SKILL.md` was read and verified. Its content is the server's, and no more to be trusted than that. */
export interface LoadedSkill {
  /** The entry that it was loaded by, and that its files are held against. */
  readonly entry: Skill;
  /** All of `SKILL.md`. */
  readonly text: string;
  /**
   * Reads a file, by its path within the skill or its URI, when it is needed; what was read before is not read again.
   *
   * @throws McpError `invalid_response` where the entry does not list it, or it is not what the entry says.
   */
  readFile(path: string, options?: CallOptions): Promise<SkillFile>;
}

export interface SkillReader {
  /** The entries that the server lists, which need not be all it has. Reads no file. */
  list(options?: CallOptions): Promise<Skill[]>;
  /** The entry of one skill, by the URI of its `SKILL.md`. */
  get(uri: string, options?: CallOptions): Promise<Skill>;
  /**
   * Reads and verifies the `SKILL.md` of an entry: its size, its digest, and its frontmatter.
   *
   * @throws McpError `invalid_response` where anything differs; the skill must not be used then.
   */
  load(entry: Skill, options?: CallOptions): Promise<LoadedSkill>;
}

const MAX_PAGES = 1_000;

/**
 * Reads the skills of a server.
 *
 * @throws McpError `protocol_error` where it offers none.
 * @example
 * const reader = skillsOf(client, { parseYaml: parse });
 * const [entry] = await reader.list();
 * const { text } = await reader.load(entry);
 */
export function skillsOf(client: Client, { parseYaml }: { parseYaml: ParseYaml }): SkillReader {
  if (typeof parseYaml !== "function") throw new TypeError("skillsOf: parseYaml must be a function");
  if (client.serverCapabilities.extensions?.[SKILLS_EXTENSION] === undefined) {
    const cause = new ProtocolError(
      ErrorCode.MethodNotFound,
      `The server does not offer ${SKILLS_EXTENSION}`,
    );
    throw new McpError("protocol_error", cause.message, { cause });
  }

  const list = async (options: CallOptions = {}) => {
    const entries: Skill[] = [];
    const seen = new Set<unknown>();
    let cursor: unknown;
    do {
      const result = await client.request("skills/list", cursor === undefined ? {} : { cursor }, options);
      if (!Array.isArray(result["skills"])) throw invalid('skills/list: expected "skills" to be an array');
      entries.push(...(result["skills"] as Skill[]));
      cursor = result["nextCursor"] ?? undefined;
      if (seen.has(cursor) || seen.size >= MAX_PAGES) {
        throw new McpError(
          "limit_exceeded",
          `skills/list: the list did not end after ${seen.size + 1} pages`,
        );
      }
      seen.add(cursor);
    } while (cursor !== undefined);
    return entries;
  };

  const read = async (uri: string, listed: SkillResource, options: CallOptions): Promise<SkillFile> => {
    const { contents } = await client.readResource(uri, { ...options, fresh: true });
    const found = contents.find((item) => item.uri === uri);
    const bytes = found && bytesOf(found);
    if (bytes === undefined) throw invalid(`${uri} was read, and the answer holds no content of it`);
    if (bytes.byteLength !== listed.size) {
      throw invalid(`${uri} has ${bytes.byteLength} bytes; its entry says ${listed.size}`);
    }
    const digest = await digestOf(bytes);
    if (digest !== listed.digest)
      throw invalid(`${uri} has digest ${digest}; its entry says ${listed.digest}`);
    return { uri, mimeType: found?.mimeType, bytes };
  };

  return {
    list,
    async get(uri, options = {}) {
      const { skill } = await client.request("skills/get", { uri }, options);
      if (isObject(skill) && skill["uri"] === uri) return skill as unknown as Skill;
      throw invalid(`skills/get: expected the entry of ${uri}`);
    },
    async load(entry, options = {}) {
      const problem = entryProblem(entry);
      if (problem !== undefined) throw invalid(`The entry of a skill is invalid: ${problem}`);
      const held = structuredClone(entry);
      const resources = new Map((held.resources as SkillResource[]).map((file) => [file.uri, file]));
      const kept = new Map<string, SkillFile>();
      const root = held.uri.slice(0, held.uri.lastIndexOf("/"));
      const readFile = async (path: string, options: CallOptions = {}) => {
        const uri = path.startsWith(`${root}/`)
          ? path
          : `${root}/${path.split("/").map(encodeURIComponent).join("/")}`;
        const listed = resources.get(uri);
        // "An unlisted file is a change to the skill."
        if (listed === undefined) throw invalid(`${uri} is not among the files of ${held.uri}`);
        const file = kept.get(uri) ?? (await read(uri, listed, options));
        kept.set(uri, file);
        return file;
      };
      const { bytes } = await readFile(held.uri, options);
      const text = new TextDecoder().decode(bytes);
      if (!equals(frontmatterOf(text, held.uri, parseYaml), held.frontmatter)) {
        throw invalid(`${held.uri} has other frontmatter than its entry`);
      }
      return { entry: held, text, readFile };
    },
  };
}

function frontmatterOf(text: string, uri: string, parseYaml: ParseYaml): unknown {
  try {
    return readFrontmatter(text, parseYaml);
  } catch (cause) {
    throw new McpError("invalid_response", `${uri}: ${(cause as Error).message}`, { cause });
  }
}

function bytesOf(item: object): Uint8Array | undefined {
  const { text, blob } = item as { text?: unknown; blob?: unknown };
  if (typeof text === "string") return new TextEncoder().encode(text);
  if (typeof blob !== "string") return undefined;
  try {
    return Uint8Array.from(atob(blob), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function invalid(message: string): McpError {
  return new McpError("invalid_response", message);
}
