/** Tasks on a server: creation, states, questions, cancellation, whose they are, and limits (SEP-2663). */
import { describe, expect, it, vi } from "vitest";
import { createServer, type JSONRPCNotification } from "../../../src/entry/index.js";
import { DEFAULT_TASK_LIMITS, memoryTaskStore, type TaskStore, tasks } from "../../../src/entry/tasks.js";
import { accepted, build, tasksOf, textOf } from "./fixture.js";

const REQUIRED = { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };

describe("a call", () => {
  it("is answered with a task that can be asked about at once", async () => {
    const { server, gate } = build();
    const caller = tasksOf(server);
    const created = await caller.begin("wait");
    expect(created).toMatchObject({
      resultType: "task",
      status: "working",
      ttlMs: DEFAULT_TASK_LIMITS.ttlMs,
      pollIntervalMs: 1000,
    });
    expect(created.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const member of ["result", "error", "inputRequests", "requestState", "task"])
      expect(created).not.toHaveProperty(member);
    expect(await caller.get(created.taskId)).toMatchObject({
      resultType: "complete",
      taskId: created.taskId,
      status: "working",
    });
    gate.open();
    const done = await caller.until(created.taskId, "completed");
    expect(done.result).toEqual({ resultType: "complete", content: [{ type: "text", text: "waited" }] });
    expect(done.createdAt).toBe(created.createdAt);
  });

  it("of a client that does not declare the extension is answered as any other", async () => {
    const { server } = build();
    const plain = tasksOf(server, undefined, { elicitation: {} });
    expect(await plain.begin("fail")).toMatchObject({ resultType: "complete", isError: true });
    expect(await plain.begin("ask")).toMatchObject({ resultType: "input_required" });
  });

  it("is refused with -32021 where the tool cannot do without a task", async () => {
    const { server } = build();
    const error = await tasksOf(server, undefined, {}).refusal("tools/call", { name: "echo" });
    expect(error).toMatchObject({ code: -32021, data: REQUIRED });
    expect(error.message).toContain('Tool "echo"');
  });

  it("ignores the task parameter of 2025-11-25", async () => {
    const server = createServer({ name: "test", version: "1.0.0", extensions: [tasks()] });
    server.tool("plain", {}, () => "plain");
    const result = await tasksOf(server).result("tools/call", { name: "plain", task: { ttl: 60_000 } });
    expect(result).toMatchObject({ resultType: "complete" });
  });

  it("of an unknown tool, or with arguments of the wrong shape, is an error and no task", async () => {
    const caller = tasksOf(build().server);
    expect(await caller.refusal("tools/call", { name: "nope" })).toMatchObject({ code: -32602 });
    expect(await caller.refusal("tools/call", { name: "echo", arguments: [] })).toMatchObject({
      code: -32602,
    });
  });
});

describe("the end of a task", () => {
  it("is completed where the tool itself failed", async () => {
    const caller = tasksOf(build().server);
    const { taskId } = await caller.begin("fail");
    const task = await caller.until(taskId, "completed");
    expect(task.result).toMatchObject({ isError: true });
    expect(textOf(task)).toBe("This tool always fails");
  });

  it("is completed, without the details, where the tool broke", async () => {
    const { server, errors } = build();
    const caller = tasksOf(server);
    const { taskId } = await caller.begin("break");
    const task = await caller.until(taskId, "completed");
    expect(JSON.stringify(task)).not.toContain("secret");
    expect(errors).toEqual([new Error("secret detail")]);
  });

  it("is failed where the tool answered with an error of the protocol", async () => {
    const caller = tasksOf(build().server);
    const { taskId } = await caller.begin("refuse");
    const task = await caller.until(taskId, "failed");
    expect(task).toMatchObject({
      error: { code: -32603, message: "No more of that" },
      statusMessage: "No more of that",
    });
    expect(task).not.toHaveProperty("result");
  });

  it("is failed with -32021 where the tool asks what the client cannot answer", async () => {
    const { server } = build();
    const caller = tasksOf(server, undefined, { extensions: { "io.modelcontextprotocol/tasks": {} } });
    const { taskId } = await caller.begin("ask");
    expect((await caller.until(taskId, "failed")).error.code).toBe(-32021);
  });
});

it("progress becomes the status message, and nothing of the request is sent any more", async () => {
  const { server, gate } = build();
  const caller = tasksOf(server);
  const { taskId } = await caller.begin("wait");
  await vi.waitFor(async () => expect((await caller.get(taskId)).statusMessage).toBe("Half of it"));
  gate.open();
  expect(await caller.until(taskId, "completed")).not.toHaveProperty("statusMessage");
});

describe("questions", () => {
  it("are asked in the task, and steps before them are not done again", async () => {
    const { server, effects } = build();
    const caller = tasksOf(server);
    const { taskId } = await caller.begin("ask");
    const parked = await caller.until(taskId, "input_required");
    expect(parked.inputRequests).toMatchObject({ sure: { method: "elicitation/create" } });
    expect(await caller.update(taskId, { sure: accepted })).toEqual({
      resultType: "complete",
      _meta: expect.any(Object),
    });
    expect(textOf(await caller.until(taskId, "completed"))).toBe("accept");
    expect(effects).toEqual(["first", "second"]);
  });

  it("are answered one by one", async () => {
    const caller = tasksOf(build().server);
    const { taskId } = await caller.begin("ask_two");
    await caller.until(taskId, "input_required");
    await caller.update(taskId, { a: accepted });
    const { inputRequests } = await caller.until(taskId, "input_required");
    expect(Object.keys(inputRequests)).toEqual(["b"]);
    // A second answer to the same question changes nothing.
    await caller.update(taskId, { a: { action: "decline" } });
    await caller.update(taskId, { b: { action: "decline" } });
    expect(textOf(await caller.until(taskId, "completed"))).toBe("accept decline");
  });

  it("are asked again under a new key where the answer does not fit", async () => {
    const caller = tasksOf(build().server);
    const { taskId } = await caller.begin("ask");
    await caller.until(taskId, "input_required");
    await caller.update(taskId, { sure: { action: "accept", content: { ok: "maybe" } } });
    const again = await vi.waitFor(async () => {
      const { inputRequests } = await caller.until(taskId, "input_required");
      expect(Object.keys(inputRequests)).toEqual(["sure.2"]);
      return inputRequests["sure.2"] as { params: { message: string } };
    });
    expect(again.params.message).toContain("does not fit");
    await caller.update(taskId, { sure: accepted });
    expect((await caller.get(taskId)).status).toBe("input_required");
    await caller.update(taskId, { "sure.2": accepted });
    await caller.until(taskId, "completed");
  });

  it("come to an end where no answer ever fits", async () => {
    const caller = tasksOf(build({ limits: { maxRounds: 2 } }).server);
    const { taskId } = await caller.begin("ask");
    for (const key of ["sure", "sure.2"]) {
      await vi.waitFor(async () => expect(await caller.get(taskId)).toHaveProperty(["inputRequests", key]));
      await caller.update(taskId, { [key]: "nonsense" });
    }
    expect((await caller.until(taskId, "failed")).error.message).toContain("2 rounds");
  });

  it("before the task are asked in answer to the call, which then ends in a task", async () => {
    const { server, effects } = build();
    const caller = tasksOf(server);
    const asked = await caller.begin("later");
    expect(asked).toMatchObject({ resultType: "input_required", inputRequests: { before: {} } });
    expect(asked).not.toHaveProperty("taskId");
    const created = await caller.result<typeof asked>(
      "tools/call",
      {
        name: "later",
        arguments: {},
        inputResponses: { before: accepted },
        requestState: asked["requestState"],
      },
      {
        meta: {
          "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, ...REQUIRED.requiredCapabilities },
        },
      },
    );
    expect(created).toMatchObject({ resultType: "task" });
    expect(created).not.toHaveProperty("requestState");
    await caller.until(created.taskId, "input_required");
    await caller.update(created.taskId, { within: { action: "cancel" } });
    expect(textOf(await caller.until(created.taskId, "completed"))).toBe("accept cancel");
    expect(effects).toEqual(["prepared", "in the task"]);
  });

  it("and what follows are one call where the client can be given no task", async () => {
    const { server, effects } = build();
    const caller = tasksOf(server, undefined, { elicitation: {} });
    const ask = async (params: object) =>
      caller.result<Record<string, unknown>>(
        "tools/call",
        { name: "later", ...params },
        { meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } } },
      );
    const first = await ask({});
    const second = await ask({ inputResponses: { before: accepted }, requestState: first["requestState"] });
    const third = await ask({ inputResponses: { within: accepted }, requestState: second["requestState"] });
    expect(textOf(third)).toBe("accept accept");
    expect(effects).toEqual(["prepared", "in the task"]);
  });
});

describe("hostile updates", () => {
  it.each([
    ["a key that was never asked", { other: accepted }],
    ["names of the prototype", JSON.parse('{"__proto__":{"a":1},"constructor":{},"toString":{}}')],
    ["nothing", {}],
  ])("%s: acknowledged, and nothing changes", async (_what, responses) => {
    const caller = tasksOf(build().server);
    const { taskId } = await caller.begin("ask");
    const before = await caller.until(taskId, "input_required");
    expect(await caller.update(taskId, responses)).toMatchObject({ resultType: "complete" });
    expect(await caller.get(taskId)).toEqual(before);
  });

  it.each([[undefined], [null], [[]], ["x"], [1]])(
    "inputResponses %j are refused",
    async (inputResponses) => {
      const caller = tasksOf(build().server);
      const { taskId } = await caller.begin("ask");
      await caller.until(taskId, "input_required");
      expect(await caller.refusal("tasks/update", { taskId, inputResponses })).toMatchObject({
        code: -32602,
      });
    },
  );

  it("of a task that is final, or works, change nothing", async () => {
    const { server, gate } = build();
    const caller = tasksOf(server);
    const { taskId } = await caller.begin("wait");
    await caller.update(taskId, { sure: accepted });
    expect((await caller.get(taskId)).status).toBe("working");
    gate.open();
    const done = await caller.until(taskId, "completed");
    await caller.update(taskId, { sure: accepted });
    expect(await caller.get(taskId)).toEqual(done);
  });

  it("that would make the task too large are refused, and it waits on", async () => {
    const caller = tasksOf(build({ limits: { maxTaskChars: 5_000 } }).server);
    const { taskId } = await caller.begin("ask");
    await caller.until(taskId, "input_required");
    const large = { sure: { action: "accept", content: { ok: true, more: "x".repeat(10_000) } } };
    expect(await caller.refusal("tasks/update", { taskId, inputResponses: large })).toMatchObject({
      code: -32602,
    });
    expect((await caller.get(taskId)).status).toBe("input_required");
  });
});

describe("cancelling", () => {
  it("stops the work, and is acknowledged without a word about the task", async () => {
    const { server, effects, errors } = build();
    const caller = tasksOf(server);
    const { taskId } = await caller.begin("wait");
    expect(await caller.cancel(taskId)).toEqual({ resultType: "complete", _meta: expect.any(Object) });
    expect((await caller.get(taskId)).status).toBe("cancelled");
    await vi.waitFor(() => expect(effects).toEqual(["began", "stopped: The task was cancelled"]));
    expect(errors).toEqual([]);
    // Again, and after the end: the same.
    expect(await caller.cancel(taskId)).toMatchObject({ resultType: "complete" });
    expect((await caller.get(taskId)).status).toBe("cancelled");
  });

  it("of what waits for an answer ends it, and the answer comes too late", async () => {
    const { server, effects } = build();
    const caller = tasksOf(server);
    const { taskId } = await caller.begin("ask");
    await caller.until(taskId, "input_required");
    await caller.cancel(taskId);
    await caller.update(taskId, { sure: accepted });
    expect(await caller.get(taskId)).toMatchObject({ status: "cancelled" });
    expect(effects).toEqual(["first"]);
  });

  it("and completing at the same time leave one final state", async () => {
    for (let turn = 0; turn < 20; turn++) {
      const { server, gate } = build();
      const caller = tasksOf(server);
      const { taskId } = await caller.begin("wait");
      gate.open();
      for (let tick = 0; tick < turn; tick++) await undefined;
      await caller.cancel(taskId);
      const { status } = await caller.get(taskId);
      expect(["cancelled", "completed"]).toContain(status);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect((await caller.get(taskId)).status).toBe(status);
    }
  });

  it("of a finished task leaves its result", async () => {
    const caller = tasksOf(build().server);
    const { taskId } = await caller.begin("echo", { text: "kept" });
    const done = await caller.until(taskId, "completed");
    await caller.cancel(taskId);
    expect(await caller.get(taskId)).toEqual(done);
  });
});

describe("whose a task is", () => {
  it.each(["tasks/get", "tasks/update", "tasks/cancel"])(
    "%s: somebody else's looks as if there were none",
    async (method) => {
      const { server } = build();
      const alice = tasksOf(server, { principal: "alice" });
      const { taskId } = await alice.begin("ask");
      await alice.until(taskId, "input_required");
      const missing = await alice.refusal(method, { taskId: "0".repeat(32), inputResponses: {} });
      expect(missing.code).toBe(-32602);
      for (const other of [tasksOf(server, { principal: "bob" }), tasksOf(server)])
        expect(await other.refusal(method, { taskId, inputResponses: { sure: accepted } })).toEqual(missing);
      expect((await alice.get(taskId)).status).toBe("input_required");
    },
  );

  it("the scopes of the tool are needed to ask about it", async () => {
    const server = createServer({ name: "test", version: "1.0.0", extensions: [tasks()] });
    server.tool("report", { task: "required", scopes: ["reports"] }, () => "secret");
    const full = tasksOf(server, { principal: "alice", scopes: ["reports"] });
    const { taskId } = await full.begin("report");
    await full.until(taskId, "completed");
    const less = tasksOf(server, { principal: "alice" });
    const error = await less.refusal("tasks/get", { taskId });
    expect(error).toMatchObject({ code: -32600, data: { missingScopes: ["reports"] } });
  });

  it("ids have more than 128 random bits, and none is like another", async () => {
    const caller = tasksOf(build().server);
    const ids = new Set<string>();
    for (let at = 0; at < 200; at++) ids.add((await caller.begin("echo")).taskId);
    expect(ids.size).toBe(200);
    const positions = Array.from({ length: 32 }, (_, at) => new Set([...ids].map((id) => id[at])));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{32}$/);
    // Six bits at each of 32 places: every place takes on most of its 64 values.
    for (const seen of positions) expect(seen.size).toBeGreaterThan(40);
  });

  it.each([[undefined], [null], [1], [""], ["__proto__"], ["x".repeat(100_000)], [{}]])(
    "an id like %.20j is refused",
    async (taskId) => {
      const caller = tasksOf(build().server);
      expect(await caller.refusal("tasks/get", { taskId })).toMatchObject({ code: -32602 });
    },
  );

  it.each(["tasks/get", "tasks/update", "tasks/cancel"])(
    "%s of a client that does not declare the extension is refused with -32021",
    async (method) => {
      const { server } = build();
      const { taskId } = await tasksOf(server).begin("echo");
      const error = await tasksOf(server, undefined, {}).refusal(method, { taskId });
      expect(error).toMatchObject({ code: -32021, data: REQUIRED });
    },
  );
});

describe("limits", () => {
  it("a task is there until its time is over, and then it is not", async () => {
    let now = 1_000_000;
    const store = memoryTaskStore();
    const caller = tasksOf(build({ now: () => now, store, limits: { ttlMs: 60_000, scanMs: 5 } }).server);
    const { taskId } = await caller.begin("echo");
    await caller.until(taskId, "completed");
    now += 59_999;
    expect((await caller.get(taskId)).status).toBe("completed");
    now += 1;
    expect(await caller.refusal("tasks/get", { taskId })).toMatchObject({ code: -32602 });
    await vi.waitFor(async () => expect(await store.read(taskId)).toBeUndefined());
  });

  it("work whose time is over is stopped", async () => {
    let now = 1_000_000;
    const { server, effects } = build({ now: () => now, limits: { ttlMs: 50, leaseMs: 15 } });
    await tasksOf(server).begin("wait");
    now += 50;
    await vi.waitFor(() => expect(effects[1]).toMatch(/^stopped/));
  });

  it("a full store refuses further tasks, of everybody or of one caller", async () => {
    const { server } = build({ limits: { maxTasks: 3, maxTasksPerPrincipal: 2 } });
    const alice = tasksOf(server, { principal: "alice" });
    await alice.begin("echo");
    await alice.begin("echo");
    const full = { code: -32603, message: "Too many tasks: the limit is 3, for one caller 2" };
    expect(await alice.refusal("tools/call", { name: "echo" })).toEqual(full);
    const bob = tasksOf(server, { principal: "bob" });
    await bob.begin("echo");
    expect(await bob.refusal("tools/call", { name: "echo" })).toEqual(full);
  });

  it("arguments and results that are too large are refused or fail the task", async () => {
    const caller = tasksOf(build({ limits: { maxTaskChars: 2_000 } }).server);
    const large = { name: "echo", arguments: { text: "x".repeat(2_000) } };
    expect(await caller.refusal("tools/call", large)).toMatchObject({ code: -32602 });
    const server = createServer({
      name: "test",
      version: "1.0.0",
      extensions: [tasks({ limits: { maxTaskChars: 2_000 } })],
    });
    server.tool("large", { task: "required" }, () => "x".repeat(2_000));
    const other = tasksOf(server);
    const { taskId } = await other.begin("large");
    expect((await other.until(taskId, "failed")).error).toMatchObject({ code: -32603 });
  });

  it("what goes beyond maxRunning waits its turn", async () => {
    const { server, effects, gate } = build({ limits: { maxRunning: 1 } });
    const caller = tasksOf(server);
    const first = await caller.begin("wait");
    const second = await caller.begin("wait");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(effects).toEqual(["began"]);
    gate.open();
    await caller.until(first.taskId, "completed");
    await caller.until(second.taskId, "completed");
  });

  it.each([
    [{ limits: { nope: 1 } }, "limits.nope is unknown"],
    [{ limits: { ttlMs: 0 } }, "limits.ttlMs must be a whole number from 1, got 0"],
    [{ limits: { ttlMs: 10, maxTtlMs: 5 } }, "more than limits.maxTtlMs"],
  ])("%j is a mistake", (options, message) => {
    expect(() => tasks(options as never)).toThrow(message);
  });
});

describe("mistakes of an author", () => {
  it.each([
    ["yes", 'tool "x": task: expected "optional" or "required", got "yes"'],
    [{ support: "optional", ttl: 1 }, "ttl is no part of a definition"],
    [{ support: "optional", begins: "never" }, 'begins must be "call" or "handler"'],
    [{ support: "optional", ttlMs: 1.5 }, 'tool "x": task: ttlMs must be a whole number from 1'],
    [{ support: "optional", ttlMs: 1e12 }, "limits.maxTtlMs is"],
    [{ support: "optional", pollIntervalMs: 0 }, "pollIntervalMs must be a whole number from 1"],
  ])("task: %j", (task, message) => {
    const { server } = build();
    expect(() => server.tool("x", { task } as never, () => "")).toThrow(message);
  });

  it("a tool that says task needs the extension", () => {
    const server = createServer({ name: "test", version: "1.0.0" });
    expect(() => server.tool("x", { task: "optional" }, () => "")).toThrow(
      "needs createServer({ extensions: [tasks()] })",
    );
  });

  it("an extension that is none, or is there twice", () => {
    const create = (extensions: unknown) =>
      createServer({ name: "test", version: "1.0.0", extensions } as never);
    expect(() => create([tasks])).toThrow("extensions[0] is no extension");
    expect(() => create([tasks(), tasks()])).toThrow("io.modelcontextprotocol/tasks is there twice");
    expect(() => create(tasks())).toThrow("must be an array");
  });
});

it("a tool says itself how long its tasks last and how often to ask", async () => {
  const { server } = build();
  server.tool("own", { task: { support: "required", ttlMs: 5_000, pollIntervalMs: 50 } }, () => "");
  expect(await tasksOf(server).begin("own")).toMatchObject({ ttlMs: 5_000, pollIntervalMs: 50 });
});

describe("a store that takes its time", () => {
  /** Every answer comes later, and not always in the order of the questions. */
  const slow = (): TaskStore => {
    const inner = memoryTaskStore();
    const later = async <T>(work: () => T | Promise<T>): Promise<T> => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      return work();
    };
    return {
      insert: (task, bounds) => later(() => inner.insert(task, bounds)),
      read: (taskId) => later(() => inner.read(taskId)),
      replace: (task) => later(() => inner.replace(task)),
      due: (now, limit) => later(() => inner.due(now, limit)),
      deleteExpired: (now) => later(() => inner.deleteExpired(now)),
    };
  };

  it("loses none of several changes at once", async () => {
    const { server, errors } = build({ store: slow() });
    const caller = tasksOf(server);
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { taskId } = await caller.begin("ask_two");
        await caller.until(taskId, "input_required");
        await Promise.all([
          caller.update(taskId, { a: accepted }),
          caller.update(taskId, { b: { action: "decline" } }),
          caller.update(taskId, { c: accepted }),
        ]);
        expect(textOf(await caller.until(taskId, "completed"))).toBe("accept decline");
      }),
    );
    expect(errors).toEqual([]);
  });

  it("takes each step once, whoever else looks for work", async () => {
    const store = slow();
    const limits = { scanMs: 2, leaseMs: 2_000 };
    const first = build({ store, limits });
    const second = build({ store, limits });
    const caller = tasksOf(first.server);
    for (let turn = 0; turn < 5; turn++) {
      const { taskId } = await caller.begin("ask");
      await caller.until(taskId, "input_required");
      await tasksOf(second.server).update(taskId, { sure: accepted });
      await caller.until(taskId, "completed");
    }
    expect([...first.effects, ...second.effects].sort()).toEqual([
      ...Array(5).fill("first"),
      ...Array(5).fill("second"),
    ]);
    first.server.endSubscriptions();
    second.server.endSubscriptions();
  });

  it("tells subscribers the states in their order", async () => {
    const caller = tasksOf(build({ store: slow() }).server);
    const { taskId } = await caller.begin("ask");
    const seen: JSONRPCNotification[] = [];
    const end = new AbortController();
    const listening = caller.listen([taskId], seen, end.signal).catch(() => {});
    await caller.until(taskId, "input_required");
    await caller.update(taskId, { sure: accepted });
    await vi.waitFor(() => expect(seen.at(-1)?.params?.["status"]).toBe("completed"));
    const ranks = ["working", "input_required", "working", "completed"];
    const states = seen.slice(1).map(({ params }) => params!["status"] as string);
    // A part of the way, in its order: what lies between two looks may be missed.
    let at = 0;
    for (const state of states) {
      while (at < ranks.length && ranks[at] !== state) at++;
      expect(at).toBeLessThan(ranks.length);
    }
    end.abort();
    await listening;
  });
});

it("a store that fails fails the call, and says so nowhere else", async () => {
  const broken: TaskStore = { ...memoryTaskStore(), insert: () => Promise.reject(new Error("disk full")) };
  const { server, errors } = build({ store: broken });
  const error = await tasksOf(server).refusal("tools/call", { name: "echo" });
  expect(error.code).toBe(-32603);
  expect(error.message).not.toContain("disk");
  expect(errors).toEqual([new Error("disk full")]);
});

describe("what the server declares", () => {
  it("the extension, and no capability of 2025-11-25", async () => {
    const discovered = await tasksOf(build().server).result("server/discover");
    expect(discovered).toMatchObject({
      capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
    });
    expect(discovered).not.toHaveProperty("capabilities.tasks");
  });

  it("methods that the extension has not are unknown, as are all of them without it", async () => {
    const caller = tasksOf(build().server);
    for (const method of ["tasks/list", "tasks/result"])
      expect(await caller.refusal(method, { taskId: "x" })).toMatchObject({ code: -32601 });
    const none = tasksOf(createServer({ name: "test", version: "1.0.0" }));
    expect(await none.refusal("tasks/get", { taskId: "x" })).toMatchObject({ code: -32601 });
  });
});

describe("notifications", () => {
  const statuses = (seen: JSONRPCNotification[]) =>
    seen.filter(({ method }) => method === "notifications/tasks").map(({ params }) => params!["status"]);

  it("tell a subscriber every state in full, in order, and nothing after the last", async () => {
    const { server } = build();
    const caller = tasksOf(server);
    const { taskId } = await caller.begin("ask");
    const seen: JSONRPCNotification[] = [];
    const end = new AbortController();
    const listening = caller.listen([taskId, "unknown"], seen, end.signal).catch(() => {});
    await vi.waitFor(() => expect(statuses(seen).at(-1)).toBe("input_required"));
    await caller.update(taskId, { sure: accepted });
    await vi.waitFor(() => expect(statuses(seen).at(-1)).toBe("completed"));
    expect(seen[0]).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [taskId] } },
    });
    const {
      resultType: _,
      _meta: __,
      ...task
    } = (await caller.get(taskId)) as unknown as Record<string, unknown>;
    const { _meta, ...notified } = seen.at(-1)!.params!;
    expect(notified).toEqual(task);
    expect(_meta).toMatchObject({ "io.modelcontextprotocol/subscriptionId": expect.anything() });
    await caller.cancel(taskId);
    expect(statuses(seen).filter((status) => status === "completed")).toHaveLength(1);
    end.abort();
    await listening;
    expect(caller.transport.inFlight).toBe(0);
  });

  it("do not tell of somebody else's tasks", async () => {
    const { server } = build();
    const alice = tasksOf(server, { principal: "alice" });
    const { taskId } = await alice.begin("ask");
    const seen: JSONRPCNotification[] = [];
    const end = new AbortController();
    const listening = tasksOf(server, { principal: "bob" })
      .listen([taskId], seen, end.signal)
      .catch(() => {});
    await alice.until(taskId, "input_required");
    await alice.cancel(taskId);
    end.abort();
    await listening;
    expect(seen).toEqual([
      expect.objectContaining({
        params: expect.objectContaining({ notifications: { taskIds: [] } }),
      }),
    ]);
  });

  it.each([
    ["nobody who does not declare the extension", {}, ["x"], -32021],
    ["nobody who asks in the wrong form", undefined, "x", -32602],
    ["nobody who asks for too many", undefined, Array.from({ length: 101 }, (_, at) => `${at}`), -32602],
  ])("reach %s", async (_who, capabilities, taskIds, code) => {
    const caller = tasksOf(build().server, undefined, capabilities);
    expect(await caller.refusal("subscriptions/listen", { notifications: { taskIds } })).toMatchObject({
      code,
    });
  });
});
