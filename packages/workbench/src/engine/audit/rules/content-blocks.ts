/** The shape of content: in results of tools, in messages of prompts, in resources (schema, ContentBlock). */
import { isObject, shown } from "../../json.js";

/** What is wrong with a list of content blocks; empty where nothing is. */
export function contentProblems(content: unknown): string[] {
  if (!Array.isArray(content)) return [`content must be an array, got ${shown(content)}`];
  return content.slice(0, 1_000).flatMap((block, index) => blockProblems(block, `content[${index}]`));
}

export function blockProblems(block: unknown, at: string): string[] {
  if (!isObject(block)) return [`${at} must be an object, got ${shown(block)}`];
  const { type } = block;
  switch (type) {
    case "text":
      return text(block["text"], `${at}.text`);
    case "image":
    case "audio":
      return [...base64(block["data"], `${at}.data`), ...text(block["mimeType"], `${at}.mimeType`)];
    case "resource_link":
      return [...uri(block["uri"], `${at}.uri`), ...text(block["name"], `${at}.name`)];
    case "resource":
      return contentsProblems(block["resource"], `${at}.resource`);
    default:
      return [`${at}.type must be text, image, audio, resource_link or resource, got ${shown(type)}`];
  }
}

/** One entry of `contents`, or an embedded resource (server/resources, Resource Contents). */
export function contentsProblems(contents: unknown, at: string): string[] {
  if (!isObject(contents)) return [`${at} must be an object, got ${shown(contents)}`];
  const { text: said, blob, mimeType } = contents;
  const problems = [...uri(contents["uri"], `${at}.uri`)];
  if (mimeType !== undefined) problems.push(...text(mimeType, `${at}.mimeType`));
  if (said === undefined && blob === undefined) problems.push(`${at} must have a text or a blob`);
  if (said !== undefined) problems.push(...text(said, `${at}.text`));
  if (blob !== undefined && typeof blob !== "string")
    problems.push(`${at}.blob must be a string, got ${shown(blob)}`);
  return problems;
}

function text(value: unknown, at: string): string[] {
  return typeof value === "string" ? [] : [`${at} must be a string, got ${shown(value)}`];
}

function base64(value: unknown, at: string): string[] {
  if (typeof value !== "string") return text(value, at);
  return isBase64(value) ? [] : [`${at} must be Base64, got ${shown(value)}`];
}

/** RFC 4648, section 4; the padding may be missing. */
export function isBase64(value: string): boolean {
  const plain = value.replaceAll(/[\r\n]/g, "");
  return /^[A-Za-z0-9+/]*={0,2}$/.test(plain) && plain.replace(/=+$/, "").length % 4 !== 1;
}

function uri(value: unknown, at: string): string[] {
  if (typeof value !== "string") return text(value, at);
  const problem = uriProblem(value);
  return problem === undefined ? [] : [`${at} must be a URI: ${problem}`];
}

/** Why a text is no URI; undefined where it is one (RFC 3986, section 3, with its scheme). */
export function uriProblem(value: string): string | undefined {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(value)?.[0];
  if (scheme === undefined) return `${shown(value)} has no scheme`;
  if (scheme.length === value.length) return `${shown(value)} has nothing but a scheme`;
  const stray = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/u.exec(value)?.[0];
  return stray === undefined
    ? undefined
    : `${shown(value)} has ${JSON.stringify(stray)}, which must be percent-encoded`;
}
