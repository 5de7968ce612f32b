/** The harness that starts a process per message: what is lost, what is kept, and that nothing is left behind. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../../src/entry/client.js";
import type { InputRequiredResult, JSONRPCNotification, JSONRPCRequest } from "../../src/entry/index.js";
import { type FreshProcessTransport, freshProcessPerMessage } from "../../src/entry/testing.js";
import { bundleFixture } from "./bundle.js";

let server: Awaited<ReturnType<typeof bundleFixture>>;
let folder: string;
let effects: string;
let transport: FreshProcessTransport;

const start = (env: Record<string, string> = { MICA_STATE_KEY: "k".repeat(32) }) =>
  freshProcessPerMessage({ command: process.execPath, args: [server.file, effects], env });

// Every message costs the start of a process.
vi.setConfig({ testTimeout: 60_000 });

beforeAll(async () => {
  server = await bundleFixture("order-server");
});
afterAll(() => server.remove());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "orders-"));
  effects = join(folder, "effects.txt");
  writeFileSync(effects, "");
  transport = start();
});
afterEach(async () => {
  await transport.close();
  expect(transport.running).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

let nextId = 1;
function request(method: string, params: Record<string, unknown> = {}): JSONRPCRequest {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    progressToken: nextId,
  };
  return { jsonrpc: "2.0", id: nextId++, method, params: { _meta, ...params } };
}

const call = (name: string, params: Record<string, unknown> = {}) =>
  request("tools/call", { name, ...params });

async function resultOf(message: JSONRPCRequest): Promise<Record<string, unknown>> {
  const response = await transport.exchange(message);
  if (!("result" in response)) throw new Error(JSON.stringify(response.error));
  return response.result;
}

const textOf = (result: Record<string, unknown>) =>
  JSON.parse((result["content"] as [{ text: string }])[0].text);
const effectsDone = () =>
  readFileSync(effects, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" ")[0]);
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a fresh process for every message", () => {
  it("takes three processes for three rounds, and each step happens once", async () => {
    const order = { arguments: { item: "chair" } };
    const one = (await resultOf(call("order", order))) as unknown as InputRequiredResult;
    expect(one).toMatchObject({ resultType: "input_required", inputRequests: { size: {} } });
    expect(effectsDone()).toEqual(["reserve"]);
    const two = (await resultOf(
      call("order", {
        ...order,
        requestState: one.requestState,
        inputResponses: { size: { action: "accept", content: { size: "L" } } },
      }),
    )) as unknown as InputRequiredResult;
    expect(two).toMatchObject({ resultType: "input_required", inputRequests: { pay: {} } });
    const three = await resultOf(
      call("order", {
        ...order,
        requestState: two.requestState,
        inputResponses: { pay: { action: "accept", content: { pay: true } } },
      }),
    );
    expect(three).toMatchObject({ resultType: "complete" });
    const { reservedBy, shippedBy, size, paid } = textOf(three);
    expect(size).toEqual({ action: "accept", content: { size: "L" } });
    expect(paid).toEqual({ action: "accept", content: { pay: true } });
    expect(reservedBy).not.toBe(shippedBy);
    expect(effectsDone()).toEqual(["reserve", "label", "ship"]);
    expect(transport.processes).toBe(3);
  });

  it("serves a client whose handlers answer the questions", async () => {
    const answers: Record<string, Record<string, string | boolean>> = {
      size: { size: "S" },
      pay: { pay: false },
    };
    await using client = await connect(
      { transport },
      {
        name: "test",
        version: "1.0.0",
        onElicit: (_request, { key }) => ({
          action: "accept",
          content: answers[key] as Record<string, string>,
        }),
      },
    );
    const before = transport.processes;
    const result = await client.callTool("order", { item: "table" });
    expect(result.isError).toBeUndefined();
    expect(transport.processes - before).toBe(3);
    expect(effectsDone()).toEqual(["reserve", "label", "ship"]);
  });

  it("shows that a key kept in memory is lost with its process", async () => {
    transport = start({});
    const asked = (await resultOf(
      call("order", { arguments: { item: "lamp" } }),
    )) as unknown as InputRequiredResult;
    const again = call("order", { arguments: { item: "lamp" }, requestState: asked.requestState });
    const response = await transport.exchange(again);
    expect(response).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("a key that this server does not have") },
    });
    expect(effectsDone()).toEqual(["reserve"]);
  });

  it("shows that a variable is lost with its process", async () => {
    const first = textOf(await resultOf(call("count")));
    const second = textOf(await resultOf(call("count")));
    expect([first.calls, second.calls]).toEqual([1, 1]);
    expect(first.pid).not.toBe(second.pid);
  });

  it("hands over the answer when the process has ended", async () => {
    const { pid } = textOf(await resultOf(call("count")));
    expect(isAlive(pid)).toBe(false);
    expect(transport.running).toBe(0);
  });

  it("runs requests of the same time at the same time", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => resultOf(call("count"))));
    const pids = new Set(answers.map((answer) => textOf(answer).pid));
    expect(pids.size).toBe(3);
    expect([...pids].some(isAlive)).toBe(false);
    expect(transport.processes).toBe(3);
  });

  it("delivers notifications before the answer", async () => {
    const seen: JSONRPCNotification[] = [];
    await transport.exchange(call("count"), { onNotification: (notification) => seen.push(notification) });
    expect(seen).toMatchObject([{ method: "notifications/progress", params: { message: "counted" } }]);
  });
});

describe("a process that fails", () => {
  it("loses its own message alone, and says its last words", async () => {
    const lost = transport.exchange(call("crash"));
    await expect(lost).rejects.toMatchObject({
      code: "connection_lost",
      message: expect.stringMatching(/exited with code 3[\s\S]*out of paper/),
    });
    expect(textOf(await resultOf(call("count"))).calls).toBe(1);
  });

  it("that cannot be started is reported for every message", async () => {
    transport = freshProcessPerMessage({ command: join(folder, "missing") });
    for (const _attempt of [1, 2]) {
      await expect(transport.exchange(call("count"))).rejects.toMatchObject({ code: "connect_failed" });
    }
    const unusable = freshProcessPerMessage({ command: "" });
    await expect(unusable.exchange(call("count"))).rejects.toThrow(TypeError);
    expect(unusable.processes).toBe(0);
  });
});

describe("an exchange that has no end of its own", () => {
  async function hangingPid(): Promise<number> {
    let text = "";
    while (text === "") {
      await new Promise((resolve) => setTimeout(resolve, 10));
      text = readFileSync(effects, "utf8").trim();
    }
    return Number(text);
  }

  it("ends with its process when it is cancelled", async () => {
    const controller = new AbortController();
    const hanging = transport.exchange(call("hang"), { signal: controller.signal });
    const pid = await hangingPid();
    expect(transport.running).toBe(1);
    controller.abort(new Error("enough"));
    await expect(hanging).rejects.toThrow("enough");
    expect(isAlive(pid)).toBe(false);
    await expect(transport.exchange(call("count"), { signal: controller.signal })).rejects.toThrow("enough");
    expect(transport.processes).toBe(1);
  });

  it("keeps its process while it listens, and ends when the transport is closed", async () => {
    let acknowledged = () => {};
    const open = new Promise<void>((resolve) => {
      acknowledged = resolve;
    });
    const notifications = { resourceSubscriptions: ["orders://all"] };
    const listening = transport.exchange(request("subscriptions/listen", { notifications }), {
      onNotification: () => acknowledged(),
    });
    const hanging = transport.exchange(call("hang"));
    const ends = Promise.allSettled([listening, hanging]);
    await open;
    const pid = await hangingPid();
    expect(transport.running).toBe(2);
    await Promise.all([transport.close(), transport.close()]);
    expect(await ends).toMatchObject([{ reason: { code: "closed" } }, { reason: { code: "closed" } }]);
    expect(isAlive(pid)).toBe(false);
    await expect(transport.exchange(call("count"))).rejects.toMatchObject({ code: "closed" });
  });
});
