/** Building content blocks, and the one value that says "this is the finished result of a tool". */
import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from "./features.js";
import type { Annotations, MetaObject } from "./types.js";

/** Bytes, or base64 that is passed on as it is. */
export type BinaryData = Uint8Array | string;

interface BlockOptions {
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** @example text("Done.", { annotations: { audience: ["user"] } }) */
export function text(value: string, options: BlockOptions = {}): TextContent {
  return { type: "text", text: value, ...options };
}

/** @example image(await readFile("chart.png"), "image/png") */
export function image(data: BinaryData, mimeType: string, options: BlockOptions = {}): ImageContent {
  return { type: "image", data: toBase64(data), mimeType, ...options };
}

/** @example audio(wav, "audio/wav") */
export function audio(data: BinaryData, mimeType: string, options: BlockOptions = {}): AudioContent {
  return { type: "audio", data: toBase64(data), mimeType, ...options };
}

/** A resource to be fetched by its URI. @example resourceLink("file:///a.txt", "a.txt") */
export function resourceLink(
  uri: string,
  name: string,
  options: Omit<ResourceLink, "type" | "uri" | "name"> = {},
): ResourceLink {
  return { type: "resource_link", uri, name, ...options };
}

/** A resource carried inside the result. @example embedded({ uri: "file:///a.txt", text: "hello" }) */
export function embedded(resource: ResourceContents, options: BlockOptions = {}): EmbeddedResource {
  return { type: "resource", resource, ...options };
}

/** What {@link content} returns: blocks as the author wants them, rendered without another look. */
export class ToolOutput {
  readonly blocks: ContentBlock[];
  readonly options: ToolOutputOptions;

  constructor(blocks: ContentBlock[], options: ToolOutputOptions) {
    this.blocks = blocks;
    this.options = options;
  }
}

export interface ToolOutputOptions {
  /** The value of `structuredContent`; checked against the tool's `output` schema where it has one. */
  structured?: unknown;
  /** Marks the result as a failure that the model should read (server/tools, Error Handling). */
  isError?: boolean;
  _meta?: MetaObject;
}

/**
 * A tool result built by hand. Strings become text blocks.
 *
 * @example return content(["Two charts:", image(png, "image/png")]);
 * @example return content("3 rows", { structured: { rows: 3 } });
 */
export function content(
  blocks: string | ContentBlock | readonly (string | ContentBlock)[],
  options: ToolOutputOptions = {},
): ToolOutput {
  const list: readonly (string | ContentBlock)[] = Array.isArray(blocks)
    ? blocks
    : [blocks as string | ContentBlock];
  return new ToolOutput(
    list.map((block) => (typeof block === "string" ? text(block) : block)),
    options,
  );
}

/** Base64 of bytes (RFC 4648, section 4); a string passes through. */
export function toBase64(data: BinaryData): string {
  if (typeof data === "string") return data;
  if (typeof Buffer !== "undefined") {
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  }
  let binary = "";
  for (let at = 0; at < data.length; at += 0x8000) {
    binary += String.fromCharCode(...data.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}
