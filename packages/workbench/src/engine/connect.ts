/** Connecting to a target, with everything that can be said about it handed over and nothing printed. */
import type { Agent } from "node:http";
import {
  type CallOptions,
  type Client,
  type ClientWarning,
  type ConnectTarget,
  connect,
  type HttpAuth,
  type InputHandlers,
} from "mica-mcp/client";
import { NAME, VERSION } from "../version.js";
import { withAuthHint } from "./auth-hint.js";
import { keptAuth } from "./credentials.js";
import type { Target } from "./target.js";
import { asUsageError } from "./usage-error.js";

/** What a client warns of, and one thing that only a target can do. */
export interface Warning {
  readonly code: ClientWarning["code"] | "stray_output";
  readonly message: string;
}

export interface ConnectSettings {
  readonly signal: AbortSignal;
  /** Milliseconds without an answer or progress; undefined for the client's default. */
  readonly timeoutMs: number | undefined;
  /** The era to speak; undefined: found out by the probe. */
  readonly era: "auto" | "modern" | "legacy" | undefined;
  readonly onWarning: (warning: Warning) => void;
  /** Answers what the server asks for; the capabilities that they amount to are declared. */
  readonly handlers: InputHandlers;
  /** Whether calls may be answered with tasks, which are waited for (SEP-2663). Default false. */
  readonly tasks?: boolean | undefined;
  /** Receives the server's stderr line by line; without it the last lines are kept for error messages. */
  readonly onServerLine: ((line: string) => void) | undefined;
  /** Default: those of whoever is signed in, unless a header says who calls. */
  readonly auth?: HttpAuth | undefined;
  /** Holds the connections to a URL; default: one of the client's own. */
  readonly agent?: Agent | undefined;
}

export interface Connected {
  readonly client: Client;
  /** Milliseconds from the beginning to the answer to `server/discover`, the start of a command included. */
  readonly discoverMs: number;
}

/** Longest stray line that is reported, in characters. */
const STRAY_CHARS = 200;
/** Stray lines that are reported: a program may print without end. */
const STRAY_LINES = 20;

/**
 * Connects.
 *
 * @throws McpError
 * @throws UsageError where the target cannot be used as it was given.
 */
export async function openTarget(target: Target, settings: ConnectSettings): Promise<Connected> {
  const { signal, timeoutMs, era, handlers, onWarning, tasks = false } = settings;
  const startedAt = performance.now();
  try {
    const auth = settings.auth ?? (await keptAuth(target));
    const client = await connect(connectTarget(target, settings), {
      name: NAME,
      version: VERSION,
      signal,
      ...handlers,
      tasks,
      ...(era !== undefined && { era }),
      onWarning: ({ code, message }) => onWarning({ code, message }),
      ...(timeoutMs !== undefined && { limits: { timeoutMs } }),
      ...(auth !== undefined && { auth }),
    });
    return { client, discoverMs: performance.now() - startedAt };
  } catch (error) {
    throw asUsageError(withAuthHint(error, target));
  }
}

/** What every call is given besides its own callbacks. */
export function callOptions({
  signal,
  timeoutMs,
}: Pick<ConnectSettings, "signal" | "timeoutMs">): CallOptions {
  return { signal, timeoutMs };
}

function connectTarget(target: Target, { onWarning, onServerLine, agent }: ConnectSettings): ConnectTarget {
  if (target.kind === "url") return { url: target.url, headers: { ...target.headers }, agent };
  const { command, args, env, cwd } = target;
  let strays = 0;
  return {
    command,
    args,
    env,
    cwd,
    // Whoever watches wants to know that it died, not to see it start again.
    restart: false,
    stderr: onServerLine,
    onStray: (text) => {
      if (++strays > STRAY_LINES) return;
      const shown = text.length > STRAY_CHARS ? `${text.slice(0, STRAY_CHARS)}...` : text;
      onWarning({
        code: "stray_output",
        message: `The server wrote something else than messages to its stdout: ${shown}`,
      });
    },
  };
}
