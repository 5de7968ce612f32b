/** One start of a server: from the beginning of its process to its first answers. */
import { type CallToolResult, type Client, connect, type EraReport, type Tool } from "mica-mcp/client";
import { NAME, VERSION } from "../../version.js";
import type { CommandTarget } from "../target.js";
import { newTree, ownChildren, type ProcessInfo, serverOf, TICK_MS, tellsProcesses } from "./processes.js";

export interface StartSettings {
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
  readonly era: "auto" | "modern" | "legacy" | undefined;
}

/** Which tool is called first, and with what. */
export interface FirstCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

export interface StartSample {
  /** Milliseconds from the start of the process to the answer; undefined where nothing was asked. */
  readonly discoverMs: number;
  readonly listMs: number | undefined;
  readonly callMs: number | undefined;
  /** Of all processes together, after the last answer. */
  readonly residentBytes: number | undefined;
  readonly processes: readonly ProcessInfo[];
  /** Milliseconds until the server was started by what was started here; undefined where they are one, or unknown. */
  readonly launcherMs: number | undefined;
  readonly server: ProcessInfo | undefined;
}

export interface StartedServer {
  readonly client: Client;
  readonly era: EraReport;
  readonly sample: StartSample;
  readonly tools: readonly Tool[] | undefined;
  readonly result: CallToolResult | undefined;
}

/**
 * Starts a server, asks it, and leaves it running.
 *
 * @param choose Says what to call, once the tools are known; not part of the time.
 * @throws McpError
 */
export async function startOnce(
  { command, args, env, cwd }: Pick<CommandTarget, "command" | "args" | "env" | "cwd">,
  { signal, timeoutMs, era }: StartSettings,
  choose: (client: Client, tools: readonly Tool[]) => FirstCall | undefined,
): Promise<StartedServer> {
  const before = ownChildren();
  const began = performance.now();
  const client = await connect(
    { command, args, env, cwd, restart: false, onStray: () => {} },
    {
      name: NAME,
      version: VERSION,
      signal,
      cache: false,
      validateOutput: false,
      onWarning: () => {},
      ...(era !== undefined && { era }),
      ...(timeoutMs !== undefined && { limits: { timeoutMs } }),
    },
  );
  const discoverMs = performance.now() - began;
  try {
    let tools: readonly Tool[] | undefined;
    let listMs: number | undefined;
    let callMs: number | undefined;
    let result: CallToolResult | undefined;
    if (client.serverCapabilities.tools !== undefined) {
      ({ tools } = await client.listTools({ signal }));
      const listed = performance.now();
      listMs = listed - began;
      const first = choose(client, tools);
      if (first !== undefined) {
        const chosen = performance.now();
        result = await client.callTool(first.name, first.args, { signal });
        callMs = performance.now() - began - (chosen - listed);
      }
    }
    const processes = newTree(before);
    const server = serverOf(processes);
    const [root] = processes;
    return {
      client,
      era: client.era,
      tools,
      result,
      sample: {
        discoverMs,
        listMs,
        callMs,
        processes,
        server,
        residentBytes: tellsProcesses
          ? processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0)
          : undefined,
        launcherMs:
          root !== undefined && server !== undefined && server !== root
            ? (server.startedAt - root.startedAt) * TICK_MS
            : undefined,
      },
    };
  } catch (error) {
    await client.close().catch(() => {});
    throw error;
  }
}
