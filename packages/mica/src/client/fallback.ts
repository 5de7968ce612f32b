/** The seam to earlier revisions (basic/versioning, Backward Compatibility): what a client needs of whoever speaks them. */
import type { ClientCapabilities, Implementation } from "../protocol/types.js";
import type { ClientTransport } from "../transport.js";
import type { EraBranch } from "./era.js";

/** How the revision of a server was found. */
export interface EraReport {
  readonly era: "modern" | "legacy";
  readonly revision: string;
  readonly branch: EraBranch;
  /** What was seen on the way, in order, in words. */
  readonly saw: readonly string[];
}

/** What a handshake says of this client. */
export interface Greeting {
  readonly clientInfo: Implementation;
  readonly clientCapabilities: ClientCapabilities;
  /** Milliseconds that it may take. */
  readonly timeoutMs: number;
  /** Answers what the server asks outside of every request. */
  readonly answer: (question: unknown, signal: AbortSignal) => Promise<unknown>;
}

/** A server of an earlier revision that looks like one of this. */
export interface LegacyConnection extends ClientTransport {
  /** The revision that was agreed on. */
  readonly version: string;
  /** What else is worth telling of it. */
  readonly remark: string | undefined;
  /** Leaves the probed transport as it was; the opposite of `close`. Only where both share a process. */
  release?(): void;
}

/** How to speak to a server of an earlier revision: given by whoever knows the binding. */
export interface Fallback {
  /** By what the server is remembered, as long as this process lives. */
  readonly key: string;
  /** Whether the server is a process of one's own: then silence and an exit say something, too. */
  readonly isProcess: boolean;
  /**
   * Begins a session. From then on it owns what the probed transport holds; where it fails, that is as it was.
   *
   * @param note Takes what was seen on the way.
   */
  open(greeting: Greeting, signal: AbortSignal, note: (text: string) => void): Promise<LegacyConnection>;
}

/** Servers that were found to speak an earlier revision, oldest first. */
const remembered = new Set<string>();
const MAX_REMEMBERED = 1_000;

export function isRemembered(key: string): boolean {
  return remembered.has(key);
}

export function remember(key: string): void {
  remembered.delete(key);
  remembered.add(key);
  if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.values().next().value as string);
}

export function forget(key: string): void {
  remembered.delete(key);
}
