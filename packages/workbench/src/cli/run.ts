/** Runs one command from its words to its exit code. */

import type { Agent } from "node:http";
import type { Readable } from "node:stream";
import type { Client } from "mica-mcp/client";
import { targetName } from "../engine/target.js";
import { VERSION } from "../version.js";
import type { Answering } from "./answering.js";
import { asksForJson, type CommandLine, readCommandLine } from "./command-line.js";
import { EXIT, type Failure, failureOf } from "./exit.js";
import { createScreen, OutputClosed, type Screen } from "./screen.js";
import { safeJson, visible, visibleLine } from "./terminal.js";
import type { OpenServer, VerbWarning } from "./verb.js";

export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  /** What Ctrl-C does: a terminal that edits lines reports it as a key. */
  readonly interrupt: () => void;
}

/** The version of the shape that `--json` prints. */
const JSON_VERSION = 1;

type Run = Extract<CommandLine, { kind: "run" }>;
type Local = Extract<CommandLine, { kind: "local" }>;

/**
 * @param interruption Aborts when the command is to end early; its reason is the exit code.
 * @returns The exit code, when everything is written and the server is gone.
 */
export async function run(
  argv: readonly string[],
  streams: Streams,
  interruption: AbortSignal,
): Promise<number> {
  let json = asksForJson(argv);
  let screen = createScreen(streams, !argv.includes("--no-color"));
  let verb: string | undefined;
  try {
    const line = readCommandLine(argv, streams.env);
    if (line.kind === "help") {
      const { help } = await import("./help.js");
      await screen.out.write(help(line.verb));
      return EXIT.ok;
    }
    if (line.kind === "version") {
      await screen.out.write(`mica ${VERSION}\n`);
      return EXIT.ok;
    }
    json = line.options.json;
    screen = createScreen(streams, line.options.color);
    verb = line.verb.name;
    return line.kind === "local"
      ? await runLocal(line, screen, interruption)
      : await runVerb(line, screen, streams, interruption);
  } catch (error) {
    return await fail(error, { json, verb, screen, interruption });
  }
}

async function runLocal(
  { verb, operands, command, options }: Local,
  screen: Screen,
  signal: AbortSignal,
): Promise<number> {
  const { run: perform } = await verb.load();
  const answer = await perform({ operands, command, options, signal });
  for (const { message } of answer.warnings ?? []) await screen.say(`mica: ${visible(message)}`);
  if (options.json) {
    await printJson(screen, { verb: verb.name, result: answer.result, warnings: answer.warnings ?? [] });
  } else await answer.print(screen);
  return answer.exitCode ?? EXIT.ok;
}

async function runVerb(line: Run, screen: Screen, streams: Streams, signal: AbortSignal): Promise<number> {
  const { verb, options, target, operands, pairs } = line;
  const { createLive } = await import("./live.js");
  const live = createLive(screen, options);
  const warnings: VerbWarning[] = [];
  let opened: Promise<OpenServer> | undefined;
  let answering: Answering | undefined;

  const warn = (warning: VerbWarning) => {
    warnings.push(warning);
    live.say(`mica: ${visible(warning.message)}`);
  };

  const open = async (agent: Agent | undefined): Promise<OpenServer> => {
    const [{ createAnswering }, { callOptions, openTarget }] = await Promise.all([
      import("./answering.js"),
      import("../engine/connect.js"),
    ]);
    answering = await createAnswering({ options, target, screen, live, streams });
    const settings = {
      signal,
      timeoutMs: options.timeoutMs,
      era: options.era,
      handlers: answering.handlers,
      tasks: verb.tasks,
      onServerLine: live.onServerLine,
      onWarning: warn,
      agent,
    };
    const stopWaiting = live.wait(visibleLine(targetName(target)));
    const connected = await openTarget(target, settings);
    if (verb.listens) stopWaiting();
    return { ...connected, call: { ...callOptions(settings), ...live.callbacks } };
  };

  try {
    const module = await verb.load();
    const answer = await module.run({
      target,
      operands,
      options,
      screen,
      streams,
      signal,
      async givenArguments() {
        const { readGivenArguments } = await import("./given-arguments.js");
        return readGivenArguments(pairs, options.args, streams, signal);
      },
      report: live.callbacks.onProgress,
      warn,
      open: (agent) => {
        opened ??= open(agent);
        return opened;
      },
    });
    live.end();
    for (const warning of [...(answer.warnings ?? []), ...(answering?.unused() ?? [])]) {
      warnings.push(warning);
      await screen.say(`mica: ${visible(warning.message)}`);
    }
    if (options.json) {
      const client = opened && (await opened).client;
      await printJson(screen, { verb: verb.name, ...about(client), result: answer.result, warnings });
    } else await answer.print(screen);
    return answer.exitCode ?? EXIT.ok;
  } catch (error) {
    const client = opened && (await opened.catch(() => undefined))?.client;
    if (client === undefined) throw error;
    const { withAuthHint } = await import("../engine/auth-hint.js");
    throw withAuthHint(withHint(error, client), target);
  } finally {
    live.end();
    const client = opened && (await opened.catch(() => undefined))?.client;
    await client?.close().catch(() => {});
  }
}

function about(client: Client | undefined): object {
  return { server: client?.serverInfo ?? null, protocolVersion: client?.protocolVersion ?? null };
}

/** A method that the server does not have is no surprise where it never declared the capability for it. */
function withHint(error: unknown, client: Client): unknown {
  if (!(error instanceof Error) || (error.cause as { code?: unknown } | undefined)?.code !== -32601)
    return error;
  const declared = Object.keys(client.serverCapabilities);
  error.message += `; the server declares ${declared.length ? declared.join(", ") : "no capabilities"}`;
  return error;
}

interface FailContext {
  readonly json: boolean;
  readonly verb: string | undefined;
  readonly screen: Screen;
  readonly interruption: AbortSignal;
}

async function fail(error: unknown, { json, verb, screen, interruption }: FailContext): Promise<number> {
  if (error instanceof OutputClosed) return EXIT.ok;
  const failure = interruption.aborted ? interrupted(interruption.reason) : failureOf(error);
  const [first = "", ...more] = visible(failure.message).split("\n");
  const { red } = screen.err.paint;
  await screen.say([`${red("mica:")} ${first}`, ...more.map((line) => `  ${line.trimStart()}`)].join("\n"));
  if (json) {
    const { code, message, exitCode, details } = failure;
    const printed = printJson(screen, { verb: verb ?? null, error: { code, message, exitCode, ...details } });
    await printed.catch(() => {});
  }
  return failure.exitCode;
}

function interrupted(reason: unknown): Failure {
  const exitCode = typeof reason === "number" ? reason : EXIT.interrupted;
  return { exitCode, code: "interrupted", message: "interrupted", details: {} };
}

/** Indented for whoever watches, one line for whatever reads it. */
async function printJson(screen: Screen, members: object): Promise<void> {
  const value = { mica: JSON_VERSION, ...members };
  const json = screen.out.isTerminal ? JSON.stringify(value, null, 2) : JSON.stringify(value);
  await screen.out.write(`${safeJson(json)}\n`);
}
