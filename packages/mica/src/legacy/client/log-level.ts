/**
 * The level of log messages, which earlier revisions have once for a session (2025-11-25, server/utilities/logging)
 * and the current one in every request.
 */
import { LOGGING_LEVELS } from "../../protocol/meta.js";
import type { LoggingLevel } from "../../protocol/types.js";
import type { Pending } from "./pending.js";
import { atMost } from "./waiting.js";

export interface LogLevel {
  /** Sees to it that messages of this level are sent. Resolves soon, whatever the server says to it. */
  want(level: LoggingLevel | undefined): Promise<void>;
}

/** How long a request waits for its level to be set, in milliseconds. */
const PATIENCE_MS = 1_000;

/** @param inUse The levels that requests under way have asked for. */
export function createLogLevel(
  pending: Pending,
  isOffered: boolean,
  inUse: () => Iterable<LoggingLevel | undefined>,
): LogLevel {
  let current: LoggingLevel | undefined;
  let setting = Promise.resolve();

  function set(level: LoggingLevel): Promise<void> {
    current = level;
    const sent = pending.send("logging/setLevel", { level });
    return atMost(PATIENCE_MS, sent.response).catch(() => {});
  }

  return {
    want(level) {
      if (level === undefined || !isOffered) return Promise.resolve();
      const wanted = leastSevere([level, ...inUse()]);
      if (wanted !== current) setting = set(wanted);
      return setting;
    },
  };
}

/** Whether a message is of a level that was asked for. Unknown levels are. */
export function reaches(level: unknown, asked: LoggingLevel): boolean {
  const rank = LOGGING_LEVELS.indexOf(level as LoggingLevel);
  return rank === -1 || rank >= LOGGING_LEVELS.indexOf(asked);
}

function leastSevere(levels: Iterable<LoggingLevel | undefined>): LoggingLevel {
  const asked = new Set(levels);
  return LOGGING_LEVELS.find((level) => asked.has(level)) ?? "info";
}
