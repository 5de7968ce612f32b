/**
 * The revisions that begin with a handshake, and what each of them can express. This table is the only place that
 * tells them apart: everything else in legacy/ asks for a trait, never for a name.
 */

/** What one revision can express. */
export interface Revision {
  readonly version: string;
  /** Several messages in one array (basic, Batching): introduced and withdrawn again one revision later. */
  readonly batches: boolean;
  /** Kinds of content in tool results and prompts. */
  readonly content: ReadonlySet<string>;
  /** Kinds of content in sampling messages; where `samplingTools`, a message may also hold several of them. */
  readonly samplingContent: ReadonlySet<string>;
  /** Tools, and with them lists of content, in sampling. */
  readonly samplingTools: boolean;
  /** `"full"`: forms with titled and multiple choices and defaults of every kind, and pages to visit. */
  readonly elicitation: "none" | "basic" | "full";
  /** `structuredContent` and `outputSchema`, both of objects only. */
  readonly structured: boolean;
  readonly toolAnnotations: boolean;
  /** Members of tools, resources, prompts and content that came later. */
  readonly unknownMembers: readonly string[];
  /** Members of `Implementation`. */
  readonly identity: readonly string[];
  /** The `completions` capability. Completion itself is as old as prompts. */
  readonly completions: boolean;
  readonly progressMessage: boolean;
  /** `lastModified` among annotations. */
  readonly lastModified: boolean;
  /** Clients that take an event without data, which tells them at once from where a stream can be resumed. */
  readonly primedStreams: boolean;
  /** Clients name the revision in the `MCP-Protocol-Version` header of every request over HTTP. */
  readonly versionHeader: boolean;
}

const NEWEST: Revision = {
  version: "2025-11-25",
  batches: false,
  content: new Set(["text", "image", "audio", "resource_link", "resource"]),
  samplingContent: new Set(["text", "image", "audio", "tool_use", "tool_result"]),
  samplingTools: true,
  elicitation: "full",
  structured: true,
  toolAnnotations: true,
  unknownMembers: [],
  identity: ["name", "title", "version", "description", "websiteUrl", "icons"],
  completions: true,
  progressMessage: true,
  lastModified: true,
  primedStreams: true,
  versionHeader: true,
};

const JUNE: Revision = {
  ...NEWEST,
  version: "2025-06-18",
  samplingContent: new Set(["text", "image", "audio"]),
  samplingTools: false,
  elicitation: "basic",
  unknownMembers: ["icons"],
  identity: ["name", "title", "version"],
  primedStreams: false,
};

const MARCH: Revision = {
  ...JUNE,
  version: "2025-03-26",
  batches: true,
  content: new Set(["text", "image", "audio", "resource"]),
  elicitation: "none",
  structured: false,
  unknownMembers: ["icons", "title", "_meta"],
  identity: ["name", "version"],
  lastModified: false,
  versionHeader: false,
};

const FIRST: Revision = {
  ...MARCH,
  version: "2024-11-05",
  batches: false,
  content: new Set(["text", "image", "resource"]),
  samplingContent: new Set(["text", "image"]),
  toolAnnotations: false,
  completions: false,
  progressMessage: false,
};

/** By name, newest first. */
export const REVISIONS: ReadonlyMap<string, Revision> = new Map(
  [NEWEST, JUNE, MARCH, FIRST].map((revision) => [revision.version, revision]),
);

export const LEGACY_VERSIONS: readonly string[] = [...REVISIONS.keys()];

/** "If the server does not receive an `MCP-Protocol-Version` header" (2025-11-25, basic/transports). */
export const ASSUMED_WITHOUT_HEADER: Revision = MARCH;

/**
 * The revision to answer `initialize` with: the one asked for, else the newest (2025-11-25, basic/lifecycle). One
 * without a handshake is never agreed to in a handshake, even where the server speaks it.
 */
export function negotiate(requested: string): Revision {
  return REVISIONS.get(requested) ?? NEWEST;
}
