/** The wire to a command: one message is one line (transports/stdio). */
import { launchLines, type ServerExit } from "mica-mcp/testing";
import type { CommandTarget } from "./target.js";
import type { Wire, WireSettings } from "./wire.js";

export function openLines(
  { command, args, env, cwd }: CommandTarget,
  { signal, onEvent }: WireSettings,
): Wire {
  let isGone = false;
  let isClosing = false;
  const lines = launchLines({
    command,
    args,
    env,
    cwd,
    onLine: (text) => onEvent({ kind: "received", text, data: text, status: undefined, isAside: false }),
    onStderr: (line) => onEvent({ kind: "stderr", line }),
    onEnd: (exit) => {
      isGone = true;
      if (!isClosing) onEvent({ kind: "failed", message: endText(command, exit) });
    },
  });
  const close = () => {
    isClosing = true;
    return lines.close();
  };
  signal.addEventListener("abort", () => void close(), { once: true });
  return {
    kind: "lines",
    async send(text) {
      if (isGone) return false;
      // What stands on several lines is several messages, and no business of ours.
      lines.send(text);
      onEvent({ kind: "sent", text, head: undefined });
      return true;
    },
    cancel: () => false,
    close,
  };
}

function endText(
  command: string,
  { exitCode, signal, startError }: ServerExit & { readonly startError: Error | undefined },
): string {
  const what = JSON.stringify(command);
  if (startError !== undefined) return `cannot start ${what}: ${startError.message}`;
  if (signal !== null) return `${what} was ended by ${signal}`;
  return exitCode === null ? `${what} closed its pipes` : `${what} ended with exit code ${exitCode}`;
}
