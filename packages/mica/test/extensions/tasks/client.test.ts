/** Tasks as a client meets them: calls that are driven to their end, and tasks that are asked about by id (SEP-2663). */
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Client, type ClientOptions, connect, type Task } from "../../../src/entry/client.js";
import { serveHttp } from "../../../src/entry/http.js";
import { memoryTransport } from "../../../src/entry/testing.js";
import { ProtocolError } from "../../../src/protocol/errors.js";
import { type Act, clientOf, scripted } from "../../client/scripted.js";
import { build, type Fixture, textOf } from "./fixture.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const OPTIONS: ClientOptions = {
  name: "test",
  version: "1.0.0",
  tasks: true,
  onElicit: () => ({ action: "accept", content: { ok: true } }),
};

const bindings: Record<string, (fixture: Fixture, options: ClientOptions) => Promise<Client>> = {
  memory: ({ server }, options) => connect({ transport: memoryTransport(server) }, options),
  async http({ server }, options) {
    const { url, close } = await serveHttp(server, { port: 0 });
    ends.push(close);
    return connect(url, options);
  },
};

const FAST = { limits: { pollIntervalMs: 20 } };

describe.each(Object.entries(bindings))("over %s", (_name, bind) => {
  const open = async (options: Partial<ClientOptions> = {}) => {
    const fixture = build(FAST);
    const client = await bind(fixture, { ...OPTIONS, ...options });
    ends.push(() => client.close());
    return { ...fixture, client };
  };

  it("callTool returns what the task ends with, and answers its questions on the way", async () => {
    const { client, effects } = await open();
    const seen: Task[] = [];
    const result = await client.callTool("ask", {}, { onTask: (task) => seen.push(task) });
    expect(textOf({ result })).toBe("accept");
    expect(result).not.toHaveProperty("taskId");
    expect(effects).toEqual(["first", "second"]);
    expect(seen[0]).toMatchObject({ status: "working", taskId: expect.any(String) });
    expect(seen.at(-1)).toMatchObject({ status: "completed", taskId: seen[0]!.taskId });
  });

  it("questions before the task and within it are the same to the client", async () => {
    const asked: string[] = [];
    const { client } = await open({
      onElicit: (_form, { key, method }) => {
        asked.push(`${method} ${key}`);
        return { action: "accept", content: { ok: true } };
      },
    });
    expect(textOf({ result: await client.callTool("later") })).toBe("accept accept");
    expect(asked).toEqual(["tools/call before", "tools/call within"]);
  });

  it("without the option, calls are answered as they always were", async () => {
    const { client } = await open({ tasks: false });
    expect(textOf({ result: await client.callTool("ask") })).toBe("accept");
    await expect(client.callTool("echo")).rejects.toMatchObject({
      code: "protocol_error",
      cause: expect.objectContaining({ code: -32021 }),
    });
    await expect(client.tasks.get("x")).rejects.toMatchObject({
      cause: expect.objectContaining({ code: -32021 }),
    });
  });

  it("a task that failed rejects with its error, one with isError is a result", async () => {
    const { client } = await open();
    await expect(client.callTool("refuse")).rejects.toMatchObject({
      code: "protocol_error",
      cause: expect.objectContaining({ code: -32603, message: "No more of that" }),
    });
    expect(await client.callTool("fail")).toMatchObject({ isError: true });
  });

  it("aborting a call cancels its task", async () => {
    const { client, effects } = await open();
    const controller = new AbortController();
    let taskId = "";
    const call = client.callTool(
      "wait",
      {},
      {
        signal: controller.signal,
        onTask: (task) => {
          taskId = task.taskId;
        },
      },
    );
    await vi.waitFor(() => expect(effects).toEqual(["began"]));
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "aborted" });
    await vi.waitFor(() => expect(effects).toEqual(["began", "stopped: The task was cancelled"]));
    expect((await client.tasks.get(taskId)).status).toBe("cancelled");
  });

  it("a call that is aborted cancels its task although the client is closed at once", async () => {
    const { client, effects } = await open();
    const controller = new AbortController();
    const call = client.callTool("wait", {}, { signal: controller.signal });
    await vi.waitFor(() => expect(effects).toEqual(["began"]));
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "aborted" });
    await client.close();
    expect(effects).toEqual(["began", "stopped: The task was cancelled"]);
  });

  it("maxTimeoutMs bounds the whole, and then the task is cancelled", async () => {
    const { client, effects } = await open();
    await expect(client.callTool("wait", {}, { maxTimeoutMs: 150 })).rejects.toMatchObject({
      code: "timeout",
    });
    await vi.waitFor(() => expect(effects).toHaveLength(2));
  });

  it("timeoutMs is for each answer, not for the task", async () => {
    const { client, gate } = await open();
    const call = client.callTool("wait", {}, { timeoutMs: 150 });
    setTimeout(gate.open, 400);
    expect(textOf({ result: await call })).toBe("waited");
  });

  it("a question that nobody can answer ends the call, and the task", async () => {
    let taskId = "";
    const { client } = await open({
      onElicit: () => {
        throw new Error("nobody is there");
      },
    });
    const onTask = (task: Task) => {
      taskId = task.taskId;
    };
    await expect(client.callTool("ask", {}, { onTask })).rejects.toMatchObject({ code: "input_unavailable" });
    await vi.waitFor(async () => expect((await client.tasks.get(taskId)).status).toBe("cancelled"));
  });

  it("what somebody else cancels rejects with task_cancelled, and takes its question back", async () => {
    const withdrawn = vi.fn();
    let taskId = "";
    const { client } = await open({
      onElicit: (_form, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            withdrawn();
            reject(signal.reason);
          }),
        ),
    });
    const call = client.callTool(
      "ask",
      {},
      {
        onTask: (task) => {
          taskId = task.taskId;
          if (task.status === "input_required") void client.tasks.cancel(taskId);
        },
      },
    );
    await expect(call).rejects.toMatchObject({ code: "task_cancelled" });
    expect(withdrawn).toHaveBeenCalledOnce();
  });

  it("a known task is asked about, answered, cancelled and waited for", async () => {
    const { client, effects } = await open();
    const created = await client.request("tools/call", { name: "ask", arguments: {} }, { fulfil: false });
    expect(created.resultType).toBe("task");
    const taskId = created["taskId"] as string;
    await vi.waitFor(async () => expect((await client.tasks.get(taskId)).status).toBe("input_required"));
    await client.tasks.update(taskId, { sure: { action: "decline" } });
    expect(textOf({ result: await client.tasks.wait(taskId) })).toBe("decline");
    await client.tasks.cancel(taskId);
    expect(textOf({ result: await client.tasks.wait(taskId) })).toBe("decline");
    expect(effects).toEqual(["first", "second"]);
    await expect(client.tasks.wait("unknown")).rejects.toMatchObject({ code: "protocol_error" });
  });

  it("giving up waiting leaves the task alone", async () => {
    const { client, gate } = await open();
    const { taskId } = (await client.request(
      "tools/call",
      { name: "wait", arguments: {} },
      { fulfil: false },
    )) as never as Task;
    await expect(client.tasks.wait(taskId, { signal: AbortSignal.timeout(60) })).rejects.toMatchObject({
      code: "aborted",
    });
    gate.open();
    expect(textOf({ result: await client.tasks.wait(taskId) })).toBe("waited");
  });

  it("closing the client leaves the task alone", async () => {
    const { client, effects } = await open();
    const call = client.callTool("wait");
    await vi.waitFor(() => expect(effects).toEqual(["began"]));
    const closed = expect(call).rejects.toMatchObject({ code: "closed" });
    await client.close();
    await closed;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(effects).toEqual(["began"]);
  });

  it("listen tells of every state", async () => {
    const { client } = await open();
    const { taskId } = (await client.request(
      "tools/call",
      { name: "ask", arguments: {} },
      { fulfil: false },
    )) as never as Task;
    const seen: string[] = [];
    for await (const event of client.listen({ taskIds: [taskId] })) {
      if (event.type !== "task") continue;
      seen.push(event.task.status);
      if (event.task.status === "input_required")
        await client.tasks.update(taskId, { sure: { action: "cancel" } });
      if (event.task.status === "completed") break;
    }
    expect(seen.slice(-1)).toEqual(["completed"]);
    expect(seen).toContain("input_required");
  });
});

describe("servers that do not keep to the protocol", () => {
  const TASK = {
    taskId: "t",
    status: "working",
    createdAt: "",
    lastUpdatedAt: "",
    ttlMs: 1,
    pollIntervalMs: 20,
  };
  const call = async (acts: Record<string, Act>, options: Partial<ClientOptions> = {}) => {
    const script = scripted({ "tools/call": () => ({ resultType: "task", ...TASK }), ...acts });
    const client = await clientOf(script, { ...OPTIONS, ...options });
    ends.push(() => client.close());
    return { script, client, result: client.callTool("x") };
  };
  const rejected = (result: Promise<unknown>, message: string) =>
    expect(result).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringContaining(message),
    });

  it("a task that was not asked for", async () => {
    const { result, script } = await call({}, { tasks: false });
    await rejected(result, "which this client did not declare");
    expect(script.sent("tasks/get")).toEqual([]);
  });

  it("a task in answer to another method", async () => {
    const { client } = await call({
      "prompts/get": () => ({ resultType: "task", ...TASK }),
      "tasks/get": () => ({ ...TASK, status: "cancelled" }),
    }).then(async (opened) => {
      await opened.result.catch(() => {});
      return opened;
    });
    await rejected(client.getPrompt("x"), "unknown resultType");
  });

  it.each([
    ["no id", { taskId: undefined }, '"taskId" to be a string'],
    ["no status", { status: undefined }, '"status" to be one of'],
    ["a status that there is not", { status: "done" }, '"status" to be one of'],
  ])("a handle with %s", async (_what, change, message) => {
    const { result } = await call({ "tools/call": () => ({ resultType: "task", ...TASK, ...change }) });
    await rejected(result, message);
  });

  it.each([
    ["another task", { taskId: "other" }, 'expected task "t"'],
    ["a completed task without result", { status: "completed" }, '"result" to be an object'],
    ["a result of the wrong shape", { status: "completed", result: {} }, '"content" to be an array'],
    ["a failed task without error", { status: "failed" }, '"error" with code and message'],
    [
      "questions that are none",
      { status: "input_required", inputRequests: [] },
      '"inputRequests" to be an object',
    ],
  ])("%s", async (_what, change, message) => {
    const { result } = await call({
      "tasks/get": () => ({ ...TASK, ...change }),
      "tasks/cancel": () => ({}),
    });
    await rejected(result, message);
  });

  it("the same question in every poll is asked once, and answered once", async () => {
    let polls = 0;
    const question = {
      method: "elicitation/create",
      params: { message: "?", requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } } },
    };
    const onElicit = vi.fn(() => ({ action: "accept" as const, content: { ok: true } }));
    const { result, script } = await call(
      {
        "tasks/get": () =>
          ++polls < 5
            ? { ...TASK, status: "input_required", inputRequests: { b: question, a: question } }
            : { ...TASK, status: "completed", result: { content: [] } },
        "tasks/update": () => ({}),
      },
      { onElicit },
    );
    await result;
    expect(onElicit).toHaveBeenCalledTimes(2);
    expect(script.sent("tasks/update")).toHaveLength(1);
  });

  it("questions without end come to an end", async () => {
    let polls = 0;
    const { result, script } = await call(
      {
        "tasks/get": () => ({
          ...TASK,
          status: "input_required",
          inputRequests: { [`q${++polls}`]: { method: "roots/list" } },
        }),
        "tasks/update": () => ({}),
        "tasks/cancel": () => ({}),
      },
      { roots: [], limits: { maxInputRounds: 2, maxInputRequests: 2 } },
    );
    await expect(result).rejects.toMatchObject({ code: "input_unavailable" });
    expect(script.sent("tasks/cancel")).toHaveLength(1);
  });

  it("an interval of no sense is not kept to", async () => {
    let polls = 0;
    const { result } = await call(
      {
        "tasks/get": () => ({
          ...TASK,
          pollIntervalMs: [0, -5, "x", null][polls],
          status: ++polls < 4 ? "working" : "completed",
          result: { content: [] },
        }),
      },
      { limits: { taskPollMs: 25, minTaskPollMs: 25 } },
    );
    const began = performance.now();
    await result;
    expect(performance.now() - began).toBeGreaterThan(70);
  });

  it("a poll that fails for good fails the call", async () => {
    const { result } = await call({
      "tasks/get": () => {
        throw new ProtocolError(-32602, "There is no such task");
      },
    });
    await expect(result).rejects.toMatchObject({ code: "protocol_error" });
  });
});

it("where the connection is lost, polling goes on over the next one", async () => {
  const fixture = build(FAST);
  const first = await serveHttp(fixture.server, { port: 0 });
  const { port } = new URL(first.url);
  const client = await connect(first.url, OPTIONS);
  ends.push(() => client.close());
  const call = client.callTool("wait");
  await vi.waitFor(() => expect(fixture.effects).toEqual(["began"]));
  await first.close();
  await new Promise((resolve) => setTimeout(resolve, 60));
  const second = await serveHttp(fixture.server, { port: Number(port) });
  ends.push(second.close);
  fixture.gate.open();
  expect(textOf({ result: await call })).toBe("waited");
});

it("clients of earlier revisions: optional runs as part of the call, required is refused", async () => {
  const { server } = build();
  const { url, close } = await serveHttp(server, { port: 0, legacy: { sessions: {} } });
  ends.push(close);
  const client = await connect(url, { ...OPTIONS, era: "legacy" });
  ends.push(() => client.close());
  expect(client.era.era).toBe("legacy");
  expect(client.serverCapabilities).not.toHaveProperty("extensions");
  expect(textOf({ result: await client.callTool("ask") })).toBe("accept");
  await expect(client.callTool("echo")).rejects.toMatchObject({ code: "protocol_error" });
  await expect(client.tasks.get("x")).rejects.toMatchObject({ code: "protocol_error" });
});

it("options.tasks must be a boolean", async () => {
  const wrong = { ...OPTIONS, tasks: {} as never };
  await expect(connect({ transport: scripted({}).transport }, wrong)).rejects.toThrow("options.tasks");
});
