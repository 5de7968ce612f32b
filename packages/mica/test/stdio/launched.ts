/** What the tests of the client side share: servers launched from fixtures, and a look at processes from outside. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { McpError } from "../../src/protocol/errors.js";
import type { JSONRPCResponse, JSONRPCResultResponse } from "../../src/protocol/types.js";
import type { LaunchOptions } from "../../src/stdio/launch-options.js";
import { launchStdio } from "../../src/stdio/launch-stdio.js";
import type { ClientExchangeOptions, ClientTransport } from "../../src/transport.js";

export const SERVER = fileURLToPath(new URL("./fixtures/server.mjs", import.meta.url));

export interface Launched {
  readonly transport: ClientTransport;
  /** What was reported as stray. */
  readonly stray: string[];
  /** Sends a request with a new id; resolves to the response. */
  ask(method: string, params?: object, options?: ClientExchangeOptions): Promise<JSONRPCResponse>;
  /** The same, and resolves to the result. */
  call(method: string, params?: object, options?: ClientExchangeOptions): Promise<Record<string, unknown>>;
}

const open = new Set<ClientTransport>();

/** Launches the fixture server, with flags. */
export function launch(flags: readonly string[] = [], options: Partial<LaunchOptions> = {}): Launched {
  const stray: string[] = [];
  const transport = launchStdio({
    command: process.execPath,
    args: [SERVER, ...flags],
    onStray: (text) => stray.push(text),
    ...options,
  });
  open.add(transport);
  let id = 0;
  const ask: Launched["ask"] = (method, params, exchange) =>
    transport.exchange(
      { jsonrpc: "2.0", id: ++id, method, ...(params && { params: { ...params } }) },
      exchange,
    );
  const call: Launched["call"] = async (method, params, exchange) => {
    const response = await ask(method, params, exchange);
    return (response as JSONRPCResultResponse).result;
  };
  return { transport, stray, ask, call };
}

export async function closeAll(): Promise<void> {
  await Promise.all([...open].map((transport) => transport.close()));
  open.clear();
}

/** The McpError with which something rejects. */
export async function failureOf(work: Promise<unknown>): Promise<McpError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof McpError) return error;
    throw error;
  }
  throw new Error("expected a rejection");
}

/** Whether a process runs. One that has ended and waits for its parent to notice does not. */
export function runs(pid: unknown): boolean {
  try {
    process.kill(pid as number, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}

/** Resolves when a process has ended; ends it itself, and throws, where that takes too long. */
export async function ended(pid: unknown): Promise<void> {
  try {
    await vi.waitFor(() => {
      if (runs(pid)) throw new Error(`process ${pid} still runs`);
    }, 10_000);
  } catch (error) {
    process.kill(pid as number, "SIGKILL");
    throw error;
  }
}

/** What a transport may leave behind in this process. */
export function traces(): Record<string, number> {
  const resources = process.getActiveResourcesInfo();
  return {
    children: resources.filter((name) => name === "ProcessWrap").length,
    pipes: resources.filter((name) => name === "PipeWrap").length,
    exit: process.listenerCount("exit"),
    SIGINT: process.listenerCount("SIGINT"),
    SIGTERM: process.listenerCount("SIGTERM"),
    SIGHUP: process.listenerCount("SIGHUP"),
  };
}
