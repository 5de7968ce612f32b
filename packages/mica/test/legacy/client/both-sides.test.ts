/** Both translators against each other: a client of this library that speaks an earlier revision to a server of it. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Client } from "../../../src/client/client.js";
import { createClient } from "../../../src/client/client.js";
import type { ClientOptions } from "../../../src/client/options.js";
import { type ConnectTarget, connect } from "../../../src/connect.js";
import { serveHttp } from "../../../src/http/serve.js";
import { legacyTransport } from "../../../src/legacy/client/transport.js";
import type { LegacyWire, WireReceiver } from "../../../src/legacy/client/wire.js";
import { createLegacySession } from "../../../src/legacy/session.js";
import { DEFAULT_LEGACY_LIMITS } from "../../../src/legacy-options.js";
import type { JSONRPCMessage } from "../../../src/protocol/types.js";
import type { RequestHandler } from "../../../src/transport.js";
import { everything as small } from "../../client/fixtures/everything.js";
import { type Bundle, bundle } from "../../stdio/bundle.js";
import { everything } from "../everything.js";
import { VERSIONS, type Version } from "../legacy-schema.js";
import { textOf } from "./old-server.js";

const copy = (message: JSONRPCMessage) => JSON.parse(JSON.stringify(message)) as JSONRPCMessage;

/** A session of the server side as a wire of the client side. */
function wireTo(handler: RequestHandler): () => Promise<LegacyWire> {
  return async () => {
    let receiver: WireReceiver | undefined;
    const send = (message: JSONRPCMessage) => void receiver?.message(copy(message));
    const session = createLegacySession({
      handler,
      limits: DEFAULT_LEGACY_LIMITS,
      send,
      onProblem: (problem) => expect.unreachable(problem),
    });
    return {
      receive(by) {
        receiver = by;
      },
      async send(message) {
        void session.receive(copy(message), { send, canAsk: true });
      },
      async close() {
        receiver = undefined;
        session.close();
      },
    };
  };
}

async function open(version: Version, options: Partial<ClientOptions> = {}): Promise<Client> {
  const server = everything();
  const unused = { mirrorsArguments: true, exchange: () => expect.unreachable(), close: async () => {} };
  const client = await createClient(
    unused,
    {
      name: "test",
      version: "1.0.0",
      era: "legacy",
      onWarning: ({ message }) => expect.unreachable(message),
      onElicit: ({ requestedSchema }) => {
        const { properties } = requestedSchema;
        if ("yes" in properties) return { action: "accept", content: { yes: true } };
        if (Object.keys(properties).some((name) => name.startsWith("extras."))) {
          return { action: "accept", content: { city: "Rome", "extras.1": false, "extras.2": true } };
        }
        return { action: "accept", content: { city: "Rome", extras: ["spa"] } };
      },
      onElicitUrl: () => ({ action: "accept" }),
      onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "Aye." } }),
      sampling: { tools: true },
      roots: [{ uri: "file:///home/ann" }],
      ...options,
    },
    {
      key: "memory",
      isProcess: false,
      open: (greeting, signal) => legacyTransport(wireTo(server), { ...greeting, signal, version }),
    },
  );
  onTestFinished(() => client.close());
  return client;
}

describe.each(VERSIONS)("in the words of %s", (version) => {
  const elicits = version >= "2025-06-18";
  const newest = version === "2025-11-25";

  it("they agree, and all that both have gets through", async () => {
    const { protocolVersion, serverInfo, listTools, callTool, readResource, getPrompt, complete } =
      await open(version);
    expect([protocolVersion, serverInfo?.name]).toEqual([version, "everything"]);
    const { tools, leftOut } = await listTools();
    expect(tools.map(({ name }) => name)).toContain("both");
    expect(leftOut).toEqual([]);
    expect(textOf(await callTool("add", { a: 1, b: 2 }))).toBe('{"sum":3}');
    expect(await callTool("fail")).toMatchObject({ isError: true });
    const progress: number[] = [];
    await callTool("count", { to: 3 }, { onProgress: (one) => progress.push(one.progress) });
    expect(progress).toEqual([1, 2, 3]);
    expect((await readResource("note://1")).contents[0]).toMatchObject({ text: "one" });
    await expect(readResource("note://none")).rejects.toMatchObject({ cause: { code: -32002 } });
    expect((await getPrompt("review", { code: "x" })).messages[0]?.content).toMatchObject({
      text: "Review: x",
    });
    const completed = await complete({ type: "ref/prompt", name: "review" }, { name: "code", value: "f" });
    expect(completed.completion.values).toEqual(["f()"]);
  });

  it("what the server asks is asked of the handlers", async () => {
    const { callTool } = await open(version);
    expect(textOf(await callTool("where"))).toBe("file:///home/ann");
    expect(JSON.parse(textOf(await callTool("think", {})))).toEqual({ type: "text", text: "Aye." });
    if (newest) {
      expect(JSON.parse(textOf(await callTool("visit")))).toEqual({ action: "accept" });
      expect(textOf(await callTool("agent"))).toBe("m");
    }
    if (!elicits) return;
    expect(JSON.parse(textOf(await callTool("book")))).toMatchObject({
      action: "accept",
      content: { city: "Rome", extras: ["spa"] },
    });
    const yes = { action: "accept", content: { yes: true } };
    expect(JSON.parse(textOf(await callTool("both")))).toEqual([yes, yes]);
    expect(JSON.parse(textOf(await callTool("twice")))).toEqual([yes, yes, "string"]);
  });

  it("changes are told of", async () => {
    const { listen } = await open(version);
    const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["note://1"] };
    const subscription = listen(filter);
    expect(await subscription.acknowledged).toEqual(filter);
    await subscription.close();
  });
});

describe("over the bindings", () => {
  let program: Bundle;
  beforeAll(async () => {
    program = await bundle("../../client/fixtures/stdio-server.ts");
  });
  afterAll(() => program.remove());

  const targets: Record<string, () => Promise<ConnectTarget>> = {
    stdio: async () => ({ command: process.execPath, args: [program.file] }),
    http: async () => {
      const server = await serveHttp(small(), { port: 0, legacy: { sessions: {} } });
      onTestFinished(async () => {
        const count = () =>
          new Promise<number>((resolve) => server.server.getConnections((_, open) => resolve(open)));
        while ((await count()) > 0) await new Promise((resolve) => setImmediate(resolve));
        await server.close();
      });
      return server.url;
    },
  };

  it.each(["stdio", "http"])(
    "a server of both eras is spoken to in the one that is asked for (%s)",
    async (kind) => {
      const target = await (targets[kind] as () => Promise<ConnectTarget>)();
      const identity = {
        name: "test",
        version: "1.0.0",
        onElicit: () => ({ action: "accept", content: { name: "Ann" } }) as const,
      };
      const modern = await connect(target, identity);
      onTestFinished(() => modern.close());
      expect(modern.era).toMatchObject({ era: "modern", branch: "discovered" });
      const legacy = await connect(target, { ...identity, era: "legacy" });
      onTestFinished(() => legacy.close());
      expect(legacy.era).toMatchObject({ era: "legacy", branch: "forced", revision: "2025-11-25" });
      for (const { callTool, listen } of [modern, legacy]) {
        expect(textOf(await callTool("greet"))).toBe("Hello, Ann");
        const progress: number[] = [];
        const logs: unknown[] = [];
        await callTool(
          "count",
          {},
          { onProgress: (one) => progress.push(one.progress), onLog: ({ data }) => logs.push(data) },
        );
        expect([progress, logs]).toEqual([[1, 2, 3], ["counted"]]);
        const subscription = listen({ resourceSubscriptions: ["note:aborted"] });
        await subscription.acknowledged;
        const controller = new AbortController();
        const hanging = callTool(
          "hang",
          {},
          { signal: controller.signal, onProgress: () => controller.abort() },
        );
        await expect(hanging).rejects.toMatchObject({ code: "aborted" });
        expect(await subscription.next()).toMatchObject({
          value: { type: "resourceUpdated", uri: "note:aborted" },
        });
        await subscription.close();
      }
    },
  );
});
