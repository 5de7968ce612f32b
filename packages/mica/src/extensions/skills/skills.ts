/** The skills extension of a server (SEP-2640): `skills/list`, `skills/get`, and directories that can be read. */
import { ErrorCode, ProtocolError } from "../../protocol/errors.js";
import type { Resource } from "../../protocol/features.js";
import { DIRECTORY, SKILLS_EXTENSION } from "../../protocol/skills.js";
import type { CacheHints } from "../../protocol/types.js";
import type { ExtensionHost, ServerExtension } from "../../server/extension.js";
import { type ServedSkill, textOf } from "./skill.js";

export interface SkillsOptions {
  /** How long entries and files may be kept. Default: five minutes, by anybody. */
  cache?: CacheHints;
}

/**
 * Serves skills: every file as a resource, and one entry for each skill that says what it consists of.
 *
 * @throws TypeError where there is no skill, or two have the same file.
 * @example
 * const refunds = await readSkill("skills/refunds", { parseYaml: parse });
 * const server = createServer({ name: "billing", version: "1.0.0", extensions: [skills([refunds])] });
 */
export function skills(served: readonly ServedSkill[], options: SkillsOptions = {}): ServerExtension {
  if (!Array.isArray(served) || served.length === 0)
    throw new TypeError("skills: expected at least one skill");
  const { ttlMs, cacheScope } = options.cache ?? { ttlMs: 300_000, cacheScope: "public" };
  const hints = { ttlMs, cacheScope } as const;
  const entries = (served as readonly ServedSkill[]).map(({ entry }) => entry);
  return {
    id: SKILLS_EXTENSION,
    settings: { directoryRead: true },
    install(host) {
      const directories = directoriesOf(addFiles(served, host, hints));
      return {
        methods: {
          "skills/list": ({ cursor }) => ({ ...page("skills", entries, cursor, host.pageSize), ...hints }),
          "skills/get"({ uri }) {
            const entry = entries.find((one) => one.uri === uri);
            if (entry !== undefined) return { skill: entry, ...hints };
            throw invalid(`No skill is served at ${shown(uri)}`, uri);
          },
          "resources/directory/read"({ uri, cursor }) {
            const children = typeof uri === "string" ? directories.get(uri) : undefined;
            if (children !== undefined) return page("resources", children, cursor, host.pageSize);
            throw invalid(`${shown(uri)} is not a directory resource`, uri);
          },
        },
      };
    },
  };
}

/** Registers every file, and returns what is said of each. Files of nested skills are files of the outer one, too. */
function addFiles(
  served: readonly ServedSkill[],
  host: ExtensionHost,
  cache: CacheHints,
): Map<string, Resource> {
  const added = new Map<string, { resource: Resource; digest: string }>();
  for (const { entry, files } of served) {
    for (const [uri, { bytes, mimeType, digest }] of files) {
      const before = added.get(uri);
      if (before !== undefined && before.digest !== digest)
        throw new TypeError(`skills: two skills have a file ${uri}`);
      const isManifest = uri === entry.uri;
      const name = isManifest ? entry.frontmatter.name : decodeURIComponent(lastOf(uri));
      const description = isManifest ? { description: entry.frontmatter.description } : {};
      const about = { name, ...description, mimeType, size: bytes.byteLength };
      if (before === undefined) host.resource(uri, { ...about, cache }, () => textOf(bytes) ?? bytes);
      if (before === undefined || isManifest) added.set(uri, { resource: { uri, ...about }, digest });
    }
  }
  return new Map([...added].map(([uri, { resource }]) => [uri, resource]));
}

/** Every directory that a file stands in, with its direct children, by URI without a slash at its end. */
function directoriesOf(files: ReadonlyMap<string, Resource>): Map<string, Resource[]> {
  const children = new Map<string, Map<string, Resource>>();
  const add = (resource: Resource) => {
    const parent = resource.uri.slice(0, resource.uri.lastIndexOf("/"));
    // Above the authority there is nothing.
    if (parent.endsWith("/")) return;
    const siblings = children.get(parent) ?? new Map<string, Resource>();
    siblings.set(resource.uri, resource);
    if (children.has(parent)) return;
    children.set(parent, siblings);
    add({ uri: parent, name: lastOf(parent), mimeType: DIRECTORY });
  };
  for (const resource of files.values()) add(resource);
  return new Map([...children].map(([uri, entries]) => [uri, [...entries.values()]]));
}

/** A cursor is the number of entries before it. */
function page<T>(member: string, all: readonly T[], cursor: unknown, size: number): Record<string, unknown> {
  const start =
    cursor === undefined
      ? 0
      : typeof cursor === "string" && /^[1-9]\d{0,9}$/.test(cursor)
        ? Number(cursor)
        : -1;
  if (start < 0 || (start > 0 && start >= all.length)) {
    throw new ProtocolError(ErrorCode.InvalidParams, `Invalid cursor ${shown(cursor)}`);
  }
  const end = start + size;
  return { [member]: all.slice(start, end), ...(end < all.length && { nextCursor: String(end) }) };
}

function lastOf(uri: string): string {
  return uri.slice(uri.lastIndexOf("/") + 1);
}

function invalid(message: string, uri: unknown): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message, typeof uri === "string" ? { uri } : undefined);
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > 200 ? `${text.slice(0, 197)}...` : text;
}
