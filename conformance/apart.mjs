/** Scenarios that stand apart from those that passed or failed, and notes on what the suite warns of. */

/**
 * Scenarios that the suite skips whatever the other side does. They are run, and the reason that the suite gives is
 * printed: once it stops giving one, they count like any other.
 */
export const SKIPPED_BY_SUITE = new Set(["tasks-status-notifications"]);

/** Warnings of the suite that its server legs do not count, and what the specification says. */
export const NOTES = {
  "server-sse-retry-field":
    'the suite: "Server SHOULD send retry field to control client reconnection timing". The specification (2025-11-25, ' +
    'basic/transports): "If the server does close the connection prior to terminating the SSE stream, it SHOULD send an ' +
    'SSE event with a standard retry field before closing the connection." Mica does not close such a connection',
};
