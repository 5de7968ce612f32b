/** Content for revisions that know fewer kinds of it: what cannot go over as it is becomes something that can. */
import { isObject } from "../protocol/jsonrpc.js";
import type { Revision } from "./versions.js";

type Members = Record<string, unknown>;

/** The content of a tool result or of prompt messages. */
export function contentFor(blocks: unknown, revision: Revision): unknown[] {
  return Array.isArray(blocks) ? blocks.map((block: unknown) => blockFor(block, revision)) : [];
}

/** One content block. */
export function blockFor(block: unknown, revision: Revision): unknown {
  if (!isObject(block)) return textOf(String(block));
  const kind = String(block["type"]);
  if (revision.content.has(kind)) {
    const known = withoutUnknown(block, revision);
    const { resource } = known;
    return isObject(resource) ? { ...known, resource: withoutUnknown(resource, revision) } : known;
  }
  if (kind === "audio") return embeddedAudio(block, revision);
  if (kind === "resource_link") return textOf(describeLink(block));
  return textOf(JSON.stringify(block));
}

/**
 * Sampling messages. Where a message holds one block only, a list becomes as many messages of the same role; a block
 * that cannot be said at all becomes a text that says what is missing.
 */
export function samplingMessagesFor(messages: unknown, revision: Revision): unknown[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isObject).flatMap((message) => {
    const known = withoutUnknown(message, revision);
    const { content } = known;
    if (revision.samplingTools) {
      const blocks = Array.isArray(content)
        ? content.map((block: unknown) => samplingBlockFor(block, revision))
        : samplingBlockFor(content, revision);
      return [{ ...known, content: blocks }];
    }
    const blocks: unknown[] = Array.isArray(content) ? content : [content];
    return blocks.map((block) => ({ ...known, content: samplingBlockFor(block, revision) }));
  });
}

function samplingBlockFor(block: unknown, revision: Revision): unknown {
  if (!isObject(block)) return textOf(String(block));
  const kind = String(block["type"]);
  if (kind === "tool_result" && revision.samplingContent.has(kind)) {
    const { structuredContent, ...rest } = block;
    return {
      ...rest,
      content: contentFor(block["content"], revision),
      ...(isObject(structuredContent) && { structuredContent }),
    };
  }
  if (revision.samplingContent.has(kind)) return withoutUnknown(block, revision);
  if (kind === "audio" || kind === "image") {
    return textOf(`[${String(block["mimeType"])} left out: MCP ${revision.version} has no ${kind} here]`);
  }
  return textOf(JSON.stringify(block));
}

/** A listed thing, a block or contents without the members that this revision does not have. */
export function withoutUnknown(thing: Members, revision: Revision): Members {
  const known = { ...thing };
  for (const member of revision.unknownMembers) delete known[member];
  const { annotations } = known;
  if (!revision.lastModified && isObject(annotations) && annotations["lastModified"] !== undefined) {
    const { lastModified: _, ...rest } = annotations;
    known["annotations"] = rest;
  }
  return known;
}

/** Bytes survive in an embedded resource, which every revision has. */
function embeddedAudio(block: Members, revision: Revision): unknown {
  const { annotations } = withoutUnknown(block, revision);
  return {
    type: "resource",
    resource: { uri: "content:audio", mimeType: block["mimeType"], blob: block["data"] },
    ...(annotations !== undefined && { annotations }),
  };
}

function describeLink({ uri, name, title, description, mimeType }: Members): string {
  const kind = mimeType === undefined ? "" : ` (${String(mimeType)})`;
  const about = description === undefined ? "" : `: ${String(description)}`;
  return `Resource ${String(title ?? name)}${kind}${about}\n${String(uri)}`;
}

function textOf(text: string): Members {
  return { type: "text", text };
}
