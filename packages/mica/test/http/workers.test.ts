/** `serveHttp` in several processes: whoever answers, the answer is the same, and changes reach every subscriber. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request as send } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { serveHttp } from "../../src/entry/http.js";
import { createServer } from "../../src/entry/index.js";
import { PROTOCOL_VERSION } from "../../src/protocol/types.js";
import { type Bundle, bundle } from "../stdio/bundle.js";

interface Program {
  readonly child: ChildProcess;
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<number | null>;
  readonly stderr: Promise<string>;
}

let program: Bundle;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  program = await bundle("../../http/fixtures/workers.ts");
});
afterAll(() => program.remove());
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

async function start(port = 0, ...options: string[]): Promise<Program> {
  const child = spawn(process.execPath, [program.file, String(port), ...options], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.add(child);
  const stderr = textOf(child.stderr!);
  const exited = once(child, "exit").then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const [line] = (await Promise.race([
    once(child.stdout!, "data"),
    exited.then(async () => {
      throw new Error(`the program ended: ${await stderr}`);
    }),
  ])) as [Buffer];
  return { child, exited, stderr, ...(JSON.parse(String(line)) as { url: string; pid: number }) };
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Sends a request on a connection of its own, so that any worker may get it. */
function open(url: string, method: string, params: Record<string, unknown>): ClientRequest {
  const name = params["name"];
  const outgoing = send(url, {
    method: "POST",
    agent: false,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": PROTOCOL_VERSION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta, ...params } }));
  return outgoing;
}

async function call(url: string, name: string, more: object = {}): Promise<Record<string, unknown>> {
  const outgoing = open(url, "tools/call", { name, arguments: {}, ...more });
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const { result, error } = JSON.parse(await textOf(incoming)) as {
    result?: Record<string, unknown>;
    error?: unknown;
  };
  expect(error).toBeUndefined();
  return result!;
}

/** What a tool of the fixture returned. */
async function answerOf(url: string, name: string, more?: object): Promise<unknown> {
  const { content } = (await call(url, name, more)) as { content: [{ text: string }] };
  return JSON.parse(content[0].text);
}

/** The processes that answer, told from so many connections. */
async function pidsOf(url: string, connections = 16): Promise<Set<number>> {
  const pids = new Set<number>();
  for (let at = 0; at < connections; at++) pids.add((await answerOf(url, "pid")) as number);
  return pids;
}

interface Listener {
  readonly said: () => number;
  /** Resolves when so many updates have come. */
  updated(count: number): Promise<void>;
}

/** A subscription to the one resource of the fixture, acknowledged. */
async function listen(url: string): Promise<Listener> {
  const outgoing = open(url, "subscriptions/listen", {
    notifications: { resourceSubscriptions: ["test://thing"] },
  });
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  let text = "";
  const waiting = new Set<() => void>();
  incoming.on("data", (chunk: Buffer) => {
    text += String(chunk);
    for (const look of waiting) look();
  });
  incoming.on("error", () => {});
  const count = (what: string) => text.split(what).length - 1;
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isThere()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  await until(() => count("notifications/subscriptions/acknowledged") === 1);
  const said = () => count("notifications/resources/updated");
  return { said, updated: (wanted) => until(() => said() >= wanted) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("workers", () => {
  it("answer at one port, and the process that starts them does not", async () => {
    const { child, url, pid, exited } = await start();
    const pids = await pidsOf(url);
    expect(pids.size).toBe(2);
    expect(pids).not.toContain(pid);
    child.stdin!.end();
    expect(await exited).toBe(0);
    for (const worker of pids) expect(isAlive(worker)).toBe(false);
  });

  it("tell every subscriber once of a change, wherever it happens", async () => {
    const { child, url, exited } = await start();
    const listeners = await Promise.all(Array.from({ length: 6 }, () => listen(url)));
    const both = await pidsOf(url);
    const touched = new Set<unknown>();
    let touches = 0;
    while (touched.size < both.size) {
      touched.add(await answerOf(url, "touch"));
      touches++;
    }
    // The primary process knows of a change, too.
    child.stdin!.write("touch\n");
    touches++;
    await Promise.all(listeners.map((listener) => listener.updated(touches)));
    child.stdin!.end();
    expect(await exited).toBe(0);
    expect(listeners.map((listener) => listener.said())).toEqual(listeners.map(() => touches));
  });

  it("finish what another began: they share the key of requestState", async () => {
    const { child, url, exited } = await start();
    const { resultType, requestState } = await call(url, "ask");
    expect(resultType).toBe("input_required");
    const inputResponses = { where: { action: "accept", content: { where: "here" } } };
    const done = [];
    for (let at = 0; at < 8; at++) {
      done.push(
        (await answerOf(url, "ask", { requestState, inputResponses })) as { begun: number; ended: number },
      );
    }
    expect(new Set(done.map(({ begun }) => begun)).size).toBe(1);
    expect(new Set(done.map(({ ended }) => ended)).size).toBe(2);
    child.stdin!.end();
    expect(await exited).toBe(0);
  });

  it("are replaced when they die", async () => {
    const { child, url, exited, stderr } = await start();
    const before = await pidsOf(url);
    const dying = open(url, "tools/call", { name: "crash", arguments: {} });
    await once(dying, "error");
    let after = await pidsOf(url, 4);
    while (after.size < 2) after = await pidsOf(url, 4);
    expect([...after].filter((pid) => before.has(pid))).toHaveLength(1);
    child.stdin!.end();
    expect(await exited).toBe(0);
    expect(await stderr).toContain("[mica] A worker ended by SIGKILL and is replaced.");
  });

  it("answer what they have begun before they end", async () => {
    const { child, url, exited } = await start();
    const answer = answerOf(url, "slow");
    await new Promise((resolve) => setTimeout(resolve, 100));
    child.stdin!.end();
    expect(typeof (await answer)).toBe("number");
    expect(await exited).toBe(0);
  });

  it("end with the process that started them, however that ends", async () => {
    const { child, url, exited } = await start();
    const pids = await pidsOf(url);
    child.kill("SIGKILL");
    await exited;
    while ([...pids].some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});

describe("sessions of earlier clients", () => {
  const INITIALIZE = {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "test", version: "1.0.0" },
  };

  /** A message on a connection of its own, so that any worker may get it. */
  async function post(url: string, session: string | undefined, message: object, method = "POST") {
    const outgoing = send(url, {
      method,
      agent: false,
      headers: {
        accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
        ...(method === "POST" && { "content-type": "application/json" }),
        ...(session !== undefined && {
          "mcp-session-id": session,
          "mcp-protocol-version": "2025-11-25",
        }),
      },
    });
    outgoing.end(method === "POST" ? JSON.stringify({ jsonrpc: "2.0", ...message }) : undefined);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    return incoming;
  }

  async function begin(url: string): Promise<string> {
    const incoming = await post(url, undefined, { id: 0, method: "initialize", params: INITIALIZE });
    const session = String(incoming.headers["mcp-session-id"]);
    await textOf(incoming);
    const { statusCode } = await post(url, session, { method: "notifications/initialized" });
    expect(statusCode).toBe(202);
    return session;
  }

  const callPid = async (url: string, session: string): Promise<number> => {
    const message = { id: 1, method: "tools/call", params: { name: "pid", arguments: {} } };
    const text = await textOf(await post(url, session, message));
    return Number(/"text":"(\d+)"/.exec(text)?.[1]);
  };

  it("stay with the worker that opened them, whichever gets a request", async () => {
    const { url, child, exited, stderr } = await start(0, "--sessions");
    const sessions = await Promise.all(Array.from({ length: 6 }, () => begin(url)));
    expect(new Set(sessions).size).toBe(6);
    const pids = new Set<number>();
    for (const session of sessions) {
      const answered = new Set<number>();
      for (let at = 0; at < 6; at++) answered.add(await callPid(url, session));
      expect([...answered]).toEqual([expect.any(Number)]);
      for (const pid of answered) pids.add(pid);
    }
    expect(pids.size).toBe(2);
    child.stdin!.end();
    expect(await exited).toBe(0);
    expect(await stderr).toBe("");
  });

  it("are asked where they are, and answer where they like", async () => {
    const { url } = await start(0, "--sessions");
    for (const session of await Promise.all(Array.from({ length: 4 }, () => begin(url)))) {
      const call = { id: 7, method: "tools/call", params: { name: "ask", arguments: {} } };
      const stream = await post(url, session, call);
      let text = "";
      let answered = false;
      for await (const chunk of stream) {
        text += String(chunk);
        const id = /"id":("[^"]*"|\d+),"method":"elicitation\/create"/.exec(text)?.[1];
        if (id === undefined || answered) continue;
        answered = true;
        const result = { action: "accept", content: { where: "here" } };
        expect((await post(url, session, { id: JSON.parse(id), result })).statusCode).toBe(202);
      }
      const { begun, ended, action } = JSON.parse(
        JSON.parse(`"${/"text":"(\{.*?\})"/.exec(text)?.[1]}"`) as string,
      ) as Record<string, unknown>;
      expect({ action, same: begun === ended }).toEqual({ action: "accept", same: true });
    }
  });

  it("hear on their stream of what another worker changed, and end with a DELETE that any worker gets", async () => {
    const { url } = await start(0, "--sessions");
    const sessions = await Promise.all(Array.from({ length: 4 }, () => begin(url)));
    for (const session of sessions) {
      const message = { id: 2, method: "resources/subscribe", params: { uri: "test://thing" } };
      expect(await textOf(await post(url, session, message))).toContain('"result"');
    }
    const streams = await Promise.all(sessions.map((session) => post(url, session, {}, "GET")));
    const heard = streams.map(async (stream) => {
      let text = "";
      for await (const chunk of stream) {
        text += String(chunk);
        if (text.includes("notifications/resources/updated")) return;
      }
      throw new Error(`the stream ended: ${text}`);
    });
    await answerOf(url, "touch");
    await Promise.all(heard);
    for (const session of sessions) {
      expect((await post(url, session, {}, "DELETE")).statusCode).toBeLessThan(300);
      expect((await post(url, session, { id: 3, method: "ping" })).statusCode).toBe(404);
    }
  });

  it("are unknown once their worker is gone, and so is a worker that never was", async () => {
    const { url } = await start(0, "--sessions");
    const session = await begin(url);
    process.kill(await callPid(url, session), "SIGKILL");
    // node:cluster may hand a connection to a worker that is dying, where nobody answers it.
    const asked = async () => {
      const answered = post(url, session, { id: 4, method: "ping" }).then(({ statusCode }) => statusCode);
      answered.catch(() => {});
      return Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    };
    await expect.poll(asked, { timeout: 10_000 }).toBe(404);
    expect((await post(url, "w99-none", { id: 5, method: "ping" })).statusCode).toBe(404);
  });
});

describe("what cannot be", () => {
  const server = createServer({ name: "workers", version: "1.0.0" });

  it.each([0, 1.5, 5_000, Number.NaN])("is refused: workers %s", async (workers) => {
    await expect(serveHttp(server, { port: 0, workers })).rejects.toThrow(
      new TypeError(`workers must be an integer from 1 to 1024, got ${workers}`),
    );
  });

  it("is said by the process that starts them: a port that is taken", async () => {
    const other = createTcpServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    await expect(serveHttp(server, { port, workers: 2 })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await new Promise((resolve) => other.close(resolve));
  });
});
