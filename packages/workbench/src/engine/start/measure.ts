/** Cold starts of one command, or of two in turns, with what they show in common. */
import type { Client, Tool } from "mica-mcp/client";
import { type GivenArguments, typeArguments } from "../arguments.js";
import { unknownTool } from "../call.js";
import { type Spread, spreadOf } from "../spread.js";
import { type CommandTarget, targetName } from "../target.js";
import { type Installed, installedFor } from "./installed.js";
import { type Loaded, noteLoads } from "./loaded.js";
import { type FirstCall, type StartSample, type StartSettings, startOnce } from "./once.js";
import { tellsProcesses } from "./processes.js";

export interface MeasuredStart {
  readonly command: string;
  readonly era: "modern" | "legacy";
  readonly protocolVersion: string;
  readonly server: { readonly name: string; readonly version: string } | null;
  /** Milliseconds from the start of the process to each answer. */
  readonly discoverMs: Spread;
  readonly listMs: Spread | null;
  readonly callMs: Spread | null;
  /** The tool of the first call; null where none was called. */
  readonly tool: string | null;
  /** Whether its result was that it failed. */
  readonly toolFailed: boolean;
  /** Bytes of memory of all its processes, after the last answer; null where this system does not tell. */
  readonly residentBytes: Spread | null;
  readonly processes: number | null;
  /** What stands between the command and the server; null where they are one process, or this system does not tell. */
  readonly launcher: LauncherCost | null;
  /** Null where it is no Node server. */
  readonly loaded: Loaded | null;
  readonly installed: Installed | null;
}

/** The system tells the time of a start in steps of 10 ms, so that each of these may be off by as much. */
export interface LauncherCost {
  /** Milliseconds until the server was started. */
  readonly launcherMs: Spread;
  /** Milliseconds from there to its first answer. */
  readonly serverMs: Spread;
  /** The command that the server runs as. */
  readonly server: string;
}

export interface MeasureSettings extends StartSettings {
  readonly runs: number;
  /** The tool to call; undefined: one that is read-only and needs no arguments. */
  readonly tool: string | undefined;
  readonly given: GivenArguments;
  readonly onRun: (done: number, of: number) => void;
}

interface Contender {
  readonly target: CommandTarget;
  readonly samples: StartSample[];
  about: Pick<MeasuredStart, "era" | "protocolVersion" | "server" | "tool" | "toolFailed">;
  loaded: Loaded | null;
}

/**
 * Starts each command once to fill the disk cache and to learn what it speaks, once more where it tells what it loads,
 * and then as often as asked, taking turns in alternating order.
 *
 * @throws McpError where a server does not answer; UsageError where the tool or an argument is not right.
 */
export async function measureStarts(
  targets: readonly CommandTarget[],
  settings: MeasureSettings,
): Promise<readonly MeasuredStart[]> {
  const { runs, onRun } = settings;
  const total = targets.length * (runs + 2);
  let done = 0;
  const contenders: Contender[] = [];
  for (const target of targets) {
    const contender = await warmUp(target, settings);
    onRun(++done, total);
    contender.loaded = await look(contender, settings);
    onRun(++done, total);
    contenders.push(contender);
  }
  for (let run = 0; run < runs; run++) {
    for (const contender of run % 2 === 0 ? contenders : contenders.toReversed()) {
      const { client, sample } = await startOnce(contender.target, settings, chooser(settings));
      await client.close();
      contender.samples.push(sample);
      onRun(++done, total);
    }
  }
  return contenders.map(summary);
}

async function warmUp(target: CommandTarget, settings: MeasureSettings): Promise<Contender> {
  let tool: string | null = null;
  const { client, era, result } = await startOnce(target, settings, (of, tools) => {
    const first = chooser(settings)(of, tools);
    tool = first?.name ?? null;
    return first;
  });
  const { serverInfo, protocolVersion } = client;
  await client.close();
  return {
    target,
    samples: [],
    loaded: null,
    about: {
      era: era.era,
      protocolVersion,
      server: serverInfo === undefined ? null : { name: serverInfo.name, version: serverInfo.version },
      tool,
      toolFailed: result?.isError === true,
    },
  };
}

/** A start that is not timed, in which a Node server notes what it loads. */
async function look({ target }: Contender, settings: MeasureSettings): Promise<Loaded | null> {
  const notes = noteLoads(target.env["NODE_OPTIONS"]);
  try {
    const env = { ...target.env, ...notes.env };
    const { client, sample } = await startOnce({ ...target, env }, settings, chooser(settings));
    try {
      return notes.read(sample.server?.pid) ?? null;
    } finally {
      await client.close();
    }
  } catch (error) {
    if (settings.signal.aborted) throw error;
    // A Node that does not know the option refuses to start with it.
    return null;
  } finally {
    notes.remove();
  }
}

function chooser({ tool, given }: MeasureSettings) {
  return (_: Client, tools: readonly Tool[]): FirstCall | undefined => {
    if (tool === undefined) {
      const harmless = tools.find(
        ({ annotations, inputSchema }) => annotations?.readOnlyHint === true && !needsArguments(inputSchema),
      );
      return harmless && { name: harmless.name, args: {} };
    }
    if (given.base !== undefined && given.pairs.length === 0) return { name: tool, args: given.base };
    const found = tools.find(({ name }) => name === tool);
    if (found === undefined) throw unknownTool(tool, tools);
    return { name: tool, args: typeArguments(tool, found.inputSchema, given) };
  };
}

function needsArguments({ required }: Tool["inputSchema"]): boolean {
  return Array.isArray(required) && required.length > 0;
}

function summary({ target, samples, about, loaded }: Contender): MeasuredStart {
  const spread = (of: (sample: StartSample) => number | undefined) =>
    spreadOf(samples.map(of).filter((value) => value !== undefined)) ?? null;
  const launcherMs = spread((sample) => sample.launcherMs);
  const serverMs = spread((sample) =>
    sample.launcherMs === undefined ? undefined : Math.max(0, sample.discoverMs - sample.launcherMs),
  );
  const last = samples.at(-1);
  return {
    command: targetName(target),
    ...about,
    discoverMs: spread(({ discoverMs }) => discoverMs) as Spread,
    listMs: spread(({ listMs }) => listMs),
    callMs: spread(({ callMs }) => callMs),
    residentBytes: spread(({ residentBytes }) => residentBytes),
    processes: tellsProcesses ? (last?.processes.length ?? null) : null,
    launcher:
      launcherMs === null || serverMs === null
        ? null
        : { launcherMs, serverMs, server: last?.server?.command ?? "" },
    loaded,
    installed: loaded === null ? null : (installedFor(loaded.entry) ?? null),
  };
}
