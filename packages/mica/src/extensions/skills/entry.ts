/** Judging the entry of a skill before any of its files is read (SEP-2640, Skill Entries). */
import { isObject } from "../../protocol/jsonrpc.js";

/** What clients need not go beyond (SEP-2640, Limits). */
export const SKILL_LIMITS = {
  /** Files of one skill. */
  maxFiles: 512,
  /** Bytes of all of them. */
  maxBytes: 16 * 1024 * 1024,
} as const;

/** What is wrong with an entry; undefined where nothing is. */
export function entryProblem(entry: unknown): string | undefined {
  const { maxFiles, maxBytes } = SKILL_LIMITS;
  if (!isObject(entry)) return "it is no object";
  const { uri, frontmatter, resources } = entry;
  const path =
    typeof uri === "string" ? /^[a-z][a-z0-9+.-]*:\/\/(.+)\/SKILL\.md$/i.exec(uri)?.[1] : undefined;
  if (path === undefined) return "its uri must lead to a SKILL.md";
  if (!isObject(frontmatter) || typeof frontmatter["description"] !== "string") {
    return "its frontmatter must have a name and a description";
  }
  // "The final segment MUST equal frontmatter.name."
  if (frontmatter["name"] !== path.slice(path.lastIndexOf("/") + 1)) {
    return `its frontmatter.name is not the last segment of ${path}`;
  }
  if (resources === "dynamic") return "its content is dynamic, and cannot be verified";
  if (!Array.isArray(resources)) return 'its resources must be an array or "dynamic"';
  if (resources.length > maxFiles) return `it has ${resources.length} files; the limit is ${maxFiles}`;
  const root = (uri as string).slice(0, (uri as string).lastIndexOf("/") + 1);
  const seen = new Set<unknown>();
  let total = 0;
  for (const file of resources as unknown[]) {
    const problem = fileProblem(file, root);
    if (problem !== undefined) return problem;
    const { uri: of, size } = file as { uri: string; size: number };
    if (seen.has(of)) return `it lists ${of} twice`;
    seen.add(of);
    total += size;
  }
  if (!seen.has(uri)) return "its resources do not list its SKILL.md";
  return total > maxBytes ? `it has ${total} bytes; the limit is ${maxBytes}` : undefined;
}

function fileProblem(file: unknown, root: string): string | undefined {
  if (!isObject(file)) return "a file must be an object";
  const { uri, digest, size } = file;
  if (typeof uri !== "string" || !uri.startsWith(root)) return `a file must be within ${root}`;
  if (typeof digest !== "string" || !/^sha256:[0-9a-f]{64}$/.test(digest)) return `${uri} needs a digest`;
  return Number.isSafeInteger(size) && (size as number) >= 0 ? undefined : `${uri} needs a size`;
}
