/** What the tests of tasks share: a server with tools that become tasks, and callers who ask about them. */
import { vi } from "vitest";
import { z } from "zod";
import {
  createServer,
  ProtocolError,
  type Server,
  ToolError,
  type ToolHandler,
} from "../../../src/entry/index.js";
import { type TasksOptions, tasks } from "../../../src/entry/tasks.js";
import { MetaKey } from "../../../src/protocol/meta.js";
import type { CreateTaskResult, DetailedTask, TaskStatus } from "../../../src/protocol/tasks.js";
import type { ErrorObject, JSONRPCNotification } from "../../../src/protocol/types.js";
import type { AuthInfo } from "../../../src/transport.js";
import { type Caller, callerOf } from "../../support/caller.js";

export const CAPABILITIES = {
  elicitation: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

/** A tool waits here until a test lets it go on. */
export class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

export interface Fixture {
  readonly server: Server;
  /** What tools did, in order. */
  readonly effects: string[];
  readonly gate: Gate;
  readonly errors: unknown[];
}

const form = (message: string) => ({ message, schema: z.object({ ok: z.boolean() }) });

export function build(options: TasksOptions = {}): Fixture {
  const effects: string[] = [];
  const errors: unknown[] = [];
  const gate = new Gate();
  const server = createServer({
    name: "test",
    version: "1.0.0",
    extensions: [tasks(options)],
    state: { keys: "k".repeat(32) },
    onError: (error) => errors.push(error),
  });
  const define = (name: string, run: ToolHandler<undefined, undefined>) =>
    server.tool(name, { task: "optional" }, run);

  server.tool(
    "echo",
    { task: "required", input: z.object({ text: z.string().optional() }) },
    ({ text }) => text ?? "nothing",
  );
  define("fail", () => {
    throw new ToolError("This tool always fails");
  });
  define("refuse", () => {
    throw new ProtocolError(-32603, "No more of that");
  });
  define("break", () => {
    throw new Error("secret detail");
  });
  define("wait", async (_args, ctx) => {
    effects.push("began");
    ctx.progress(1, 2, "Half of it");
    ctx.log("error", "never sent");
    await Promise.race([
      gate.opened,
      new Promise((_, reject) =>
        ctx.signal.addEventListener("abort", () => {
          effects.push(`stopped: ${ctx.signal.reason.message}`);
          reject(ctx.signal.reason);
        }),
      ),
    ]);
    return "waited";
  });
  define("ask", async (_args, ctx) => {
    await ctx.step("first", () => void effects.push("first"));
    const { action } = await ctx.elicit("sure", form("Sure?"));
    await ctx.step("second", () => void effects.push("second"));
    return action;
  });
  define("ask_two", async (_args, ctx) => {
    const { a, b } = await ctx.ask({ a: { elicit: form("A?") }, b: { elicit: form("B?") } });
    return `${a.action} ${b.action}`;
  });
  server.tool("later", { task: { support: "optional", begins: "handler" } }, async (_args, ctx) => {
    const before = await ctx.elicit("before", form("Before?"));
    await ctx.step("prepared", () => void effects.push("prepared"));
    await ctx.beginTask();
    await ctx.step("in the task", () => void effects.push("in the task"));
    const within = await ctx.elicit("within", form("Within?"));
    return `${before.action} ${within.action}`;
  });
  return { server, effects, gate, errors };
}

export interface TaskCaller extends Caller {
  /** Calls a tool that is answered with a task. */
  begin(name: string, args?: Record<string, unknown>): Promise<CreateTaskResult>;
  get(taskId: string): Promise<DetailedTask>;
  update(taskId: string, inputResponses: unknown): Promise<unknown>;
  cancel(taskId: string): Promise<unknown>;
  refusal(method: string, params: Record<string, unknown>): Promise<ErrorObject>;
  /** Polls until the task is in a state. */
  until<S extends TaskStatus>(taskId: string, status: S): Promise<Extract<DetailedTask, { status: S }>>;
  /** Listens for tasks; the signal ends it. */
  listen(taskIds: unknown, seen: JSONRPCNotification[], signal: AbortSignal): Promise<unknown>;
}

export function tasksOf(
  server: Server,
  auth?: Partial<AuthInfo>,
  capabilities: object = CAPABILITIES,
): TaskCaller {
  const caller = callerOf(server, auth && { auth: { principal: "", scopes: [], claims: {}, ...auth } });
  const meta = { [MetaKey.clientCapabilities]: capabilities };
  const get = (taskId: string) => caller.result<DetailedTask>("tasks/get", { taskId }, { meta });
  return {
    ...caller,
    begin: (name, args = {}) =>
      caller.result<CreateTaskResult>("tools/call", { name, arguments: args }, { meta }),
    get,
    update: (taskId, inputResponses) => caller.result("tasks/update", { taskId, inputResponses }, { meta }),
    cancel: (taskId) => caller.result("tasks/cancel", { taskId }, { meta }),
    refusal: (method, params) => caller.error(method, params, { meta }),
    until: (taskId, status) =>
      vi.waitFor(
        async () => {
          const task = await get(taskId);
          if (task.status !== status) throw new Error(`the task is ${JSON.stringify(task)}`);
          return task as never;
        },
        { timeout: 10_000, interval: 5 },
      ),
    listen: (taskIds, seen, signal) =>
      caller.send(
        "subscriptions/listen",
        { notifications: { taskIds } },
        { meta, signal, onNotification: (notification) => seen.push(notification) },
      ),
  };
}

export const accepted = { action: "accept", content: { ok: true } };

export function textOf(task: { result?: unknown } | Record<string, unknown>): string {
  const { content } = (("result" in task ? task["result"] : task) ?? {}) as { content: { text: string }[] };
  return content.map(({ text }) => text).join("");
}
