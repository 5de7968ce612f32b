/** Content blocks for people: text as it is, everything else on one line that says what it is. */
import { isDeepStrictEqual } from "node:util";
import { type ContentBlock, McpError, type ResourceContents } from "mica-mcp/client";
import { decodeBase64, safeFileName, save, sizeText } from "../engine/binary.js";
import { isObject, readJson } from "../engine/json.js";
import { visibleLine } from "./terminal.js";

/** A block, and where its bytes were saved. */
export interface Shown {
  readonly block: ContentBlock;
  readonly path: string | undefined;
}

/**
 * Saves what is not text, where there is a directory for it; `stem` names files that have no name of their own.
 * What is not base64 is not saved, and is shown as that: the call has been made, and its other results count.
 */
export async function saveBlocks(
  blocks: readonly unknown[],
  directory: string | undefined,
  stem: string,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const given of blocks) {
    const block = readBlock(given);
    const file = directory === undefined ? undefined : fileOf(block, stem);
    shown.push({ block, path: file && (await save(directory as string, file.name, file.data)) });
  }
  return shown;
}

export function savedPaths(shown: readonly Shown[]): string[] {
  return shown.flatMap(({ path }) => path ?? []);
}

/** A block whose members can be relied on; anything else becomes a block of a type that nobody knows. */
function readBlock(given: unknown): ContentBlock {
  if (isObject(given)) {
    const { type, text, resource } = given;
    const isText = type === "text" && typeof text === "string";
    const isResource = type === "resource" && isResourceContents(resource);
    if (isText || isResource || (type !== "text" && type !== "resource"))
      return given as unknown as ContentBlock;
  }
  return { type: "unknown", given } as unknown as ContentBlock;
}

export function isResourceContents(value: unknown): value is ResourceContents {
  if (!isObject(value) || typeof value["uri"] !== "string") return false;
  return typeof value["text"] === "string" || typeof value["blob"] === "string";
}

interface File {
  readonly name: string;
  readonly data: Uint8Array;
}

function fileOf(block: ContentBlock, stem: string): File | undefined {
  const blob = (base64: unknown, name: string) => {
    const data = decode(base64);
    return data && { name, data };
  };
  if (block.type === "image" || block.type === "audio")
    return blob(block.data, safeFileName(stem, block.mimeType));
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  return blob(block.resource.blob, safeFileName(block.resource.uri, block.resource.mimeType));
}

/** @throws McpError where the contents of a resource are not base64. */
export function bytesOf(resource: ResourceContents): Buffer {
  if (!("blob" in resource)) return Buffer.from(resource.text, "utf8");
  const data = decode(resource.blob);
  if (data !== undefined) return data;
  throw new McpError("invalid_response", `resources/read: expected base64 in the blob of ${resource.uri}`);
}

function decode(base64: unknown): Buffer | undefined {
  return typeof base64 === "string" ? decodeBase64(base64) : undefined;
}

/** Lines for blocks. Text keeps its own characters: whoever prints it makes it safe where that is needed. */
export function blockText({ block, path }: Shown): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return bracket([block.type, block.mimeType], [size(block.data)], path);
    case "resource_link": {
      const about = [
        block.title ?? block.name,
        block.mimeType,
        block.size === undefined ? undefined : sizeText(block.size),
      ];
      return (
        bracket(["link", block.uri], about, path) +
        (block.description ? ` ${visibleLine(block.description)}` : "")
      );
    }
    case "resource": {
      const { resource } = block;
      const isText = "text" in resource;
      const head = bracket(
        ["resource", resource.uri],
        [resource.mimeType, isText ? undefined : size(resource.blob)],
        path,
      );
      return isText ? `${head}\n${resource.text}` : head;
    }
    default:
      // A type of a later revision, or of nobody's.
      return bracket([JSON.stringify(block)], [], path);
  }
}

/** Whether some text already says what the structured result says (server/tools, Structured Content). */
export function saysTheSame(shown: readonly Shown[], structured: unknown): boolean {
  return shown.some(({ block }) => {
    if (block.type !== "text") return false;
    const json = readJson(block.text);
    return json !== undefined && isDeepStrictEqual(json.value, structured);
  });
}

function size(base64: unknown): string {
  const data = decode(base64);
  return data === undefined ? "not base64" : sizeText(data.length);
}

/** `[image image/png, 12.3 kB]`, and where it was saved. */
function bracket(
  what: readonly unknown[],
  about: readonly (string | undefined)[],
  path: string | undefined,
): string {
  const head = what.map((word) => visibleLine(String(word))).join(" ");
  const rest = about.filter((part) => part !== undefined).map((part) => visibleLine(String(part)));
  return `[${[head, ...rest].join(", ")}]${path === undefined ? "" : ` saved as ${path}`}`;
}
