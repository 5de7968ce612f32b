/** What a verb gets, and what it gives back. */
import type { Agent } from "node:http";
import type { Readable } from "node:stream";
import type { CallOptions, Client } from "mica-mcp/client";
import type { GivenArguments } from "../engine/arguments.js";
import type { Target } from "../engine/target.js";
import type { Options } from "./options.js";
import type { Screen } from "./screen.js";

export interface VerbContext {
  readonly target: Target;
  /** As many as the verb's row takes, and what it may take. */
  readonly operands: readonly string[];
  readonly options: Options;
  readonly screen: Screen;
  readonly streams: VerbStreams;
  /** Aborts when the command is to end early. */
  readonly signal: AbortSignal;
  /** Pairs and `--args`, read; nothing is connected for it. */
  readonly givenArguments: () => Promise<GivenArguments>;
  /** Shows how far something has come; undefined where nobody watches. */
  readonly report: CallOptions["onProgress"];
  /** Says something on stderr at once. */
  readonly warn: (warning: VerbWarning) => void;
  /** Connects, at the first call, to a URL over that agent; whoever runs the verb disconnects. */
  readonly open: (agent?: Agent) => Promise<OpenServer>;
}

/** The standard streams, for verbs that are themselves a channel. */
export interface VerbStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

export interface OpenServer {
  readonly client: Client;
  /** From the beginning to the answer to `server/discover`, the start of a command included. */
  readonly discoverMs: number;
  /** For every call: cancellation, timeout, progress, notifications. */
  readonly call: CallOptions;
}

/** What a verb found out: once for scripts, once for people. */
export interface Answer {
  /** The member `result` of what `--json` prints. */
  readonly result: object;
  /** Shown to people; not called with `--json`. */
  readonly print: (screen: Screen) => Promise<void>;
  /** Default 0. */
  readonly exitCode?: number;
  /** Things to say on stderr, whatever is printed. */
  readonly warnings?: readonly VerbWarning[];
}

/** In `--json`, a member of `warnings`. */
export interface VerbWarning {
  readonly code: string;
  readonly message: string;
}

/** What a verb gets that works on files. */
export interface LocalContext {
  /** As many as the verb's row takes. */
  readonly operands: readonly string[];
  /** What follows `--`. */
  readonly command: readonly string[] | undefined;
  readonly options: Options;
  /** Aborts when the command is to end early. */
  readonly signal: AbortSignal;
}

export interface LocalVerbModule {
  /** @throws UsageError */
  run(context: LocalContext): Promise<Answer>;
}

export interface VerbModule {
  /** @throws UsageError, McpError */
  run(context: VerbContext): Promise<Answer>;
}
