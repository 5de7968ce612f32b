/** A server of an earlier revision, seen through the client seam: handshake, requests, results, notifications. */
import { describe, expect, it, vi } from "vitest";
import { legacyTransport } from "../../../src/legacy/client/transport.js";
import type { McpError } from "../../../src/protocol/errors.js";
import { ProtocolError } from "../../../src/protocol/errors.js";
import type { JSONRPCNotification, LoggingLevel } from "../../../src/protocol/types.js";
import { VERSIONS } from "../legacy-schema.js";
import { clientOf, type Message, oldServer, text, textOf } from "./old-server.js";

const identity = { clientInfo: { name: "test", version: "1.0.0" }, clientCapabilities: {} };
const never = () => new Promise<never>(() => {});

describe.each(VERSIONS)("a server of %s", (version) => {
  it("is greeted once, and agrees on its revision", async () => {
    const server = oldServer(version);
    const { client } = await clientOf(server, {
      title: "Test",
      onElicit: () => ({ action: "cancel" }),
      onElicitUrl: () => ({ action: "cancel" }),
      onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "" } }),
      roots: [],
      capabilities: { extensions: { "com.example/x": {} } },
    });
    expect(server.methods).toEqual(["initialize", "notifications/initialized"]);
    expect(server.received[0]).toEqual({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        clientInfo: { name: "test", version: "1.0.0", title: "Test" },
        capabilities: {
          elicitation: { form: {}, url: {} },
          sampling: {},
          roots: {},
          extensions: { "com.example/x": {} },
        },
      },
    });
    expect(client.protocolVersion).toBe(version);
    expect(client.era).toEqual({
      era: "legacy",
      revision: version,
      branch: "forced",
      saw: [`initialize: ${version}`],
    });
    expect(client.serverInfo).toEqual({ name: "old", version: "0.9.0" });
    expect(client.instructions).toBe("Be gentle.");
    expect(client.serverCapabilities).toMatchObject({ tools: { listChanged: true }, logging: {} });
    expect(await client.discover({ fresh: true })).toEqual({
      resultType: "complete",
      supportedVersions: [version],
      capabilities: client.serverCapabilities,
      instructions: "Be gentle.",
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "old", version: "0.9.0" } },
    });
    expect(server.received).toHaveLength(2);
  });

  it("gets requests without what it was told once, and its results are complete", async () => {
    const server = oldServer(version, {
      "tools/list": () => ({ tools: [{ name: "t", inputSchema: { type: "object" } }] }),
      "tools/call": (params) => text(params),
      "resources/list": () => ({ resources: [{ uri: "a:b", name: "b" }] }),
      "resources/templates/list": () => ({ resourceTemplates: [] }),
      "resources/read": () => ({ contents: [{ uri: "a:b", text: "hello" }] }),
      "prompts/list": () => ({ prompts: [{ name: "p" }] }),
      "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "go" } }] }),
      "completion/complete": () => ({ completion: { values: ["x"] } }),
    });
    const { client } = await clientOf(server);
    const raw = await client.request("tools/list");
    expect(raw).toEqual({
      tools: [{ name: "t", inputSchema: { type: "object" } }],
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
    });
    expect((await client.listTools()).tools).toHaveLength(1);
    expect((await client.listResources()).resources).toHaveLength(1);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
    expect((await client.listPrompts()).prompts).toEqual([{ name: "p" }]);
    expect((await client.readResource("a:b")).contents).toEqual([{ uri: "a:b", text: "hello" }]);
    expect((await client.getPrompt("p", { a: "b" })).messages).toHaveLength(1);
    const completed = await client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" });
    expect(completed.completion.values).toEqual(["x"]);
    const called = await client.callTool(
      "t",
      { a: 1 },
      { onProgress: () => {}, _meta: { traceparent: "00-1-2-03" } },
    );
    expect(called.resultType).toBe("complete");
    expect(called).not.toHaveProperty("ttlMs");
    expect(JSON.parse(textOf(called))).toEqual({
      name: "t",
      arguments: { a: 1 },
      _meta: { progressToken: expect.any(Number), traceparent: "00-1-2-03" },
    });
    expect(server.of("tools/list")[0]).not.toHaveProperty("params");
    const ids = server.received.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("refuses with the codes that it has", async () => {
    const server = oldServer(version, {
      "resources/read": ({ uri }) => {
        throw new ProtocolError(-32002, "Resource not found", { uri });
      },
    });
    const { client } = await clientOf(server);
    await expect(client.readResource("a:b")).rejects.toMatchObject({
      code: "protocol_error",
      cause: { code: -32002, message: "Resource not found", data: { uri: "a:b" } },
    });
    await expect(client.listTools()).rejects.toMatchObject({ cause: { code: -32601 } });
  });

  it("reports progress to the call that asked for it, and log messages to those that asked for the level", async () => {
    const server = oldServer(version, {
      "tools/call": async ({ name, _meta }, { notify }) => {
        const progressToken = (_meta as Message | undefined)?.["progressToken"] as number;
        notify("notifications/progress", { progressToken, progress: 1, total: 2 });
        notify("notifications/progress", { progressToken: `not ${progressToken}`, progress: 9 });
        notify("notifications/message", { level: "debug", data: `debug ${String(name)}` });
        notify("notifications/message", { level: "error", logger: "l", data: `error ${String(name)}` });
        return text("done");
      },
    });
    const { client } = await clientOf(server);
    const seen: unknown[] = [];
    await client.callTool("a", {}, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([{ progressToken: expect.any(Number), progress: 1, total: 2 }]);
    const logs: unknown[] = [];
    await client.callTool("b", {}, { onLog: (message) => logs.push(message), logLevel: "warning" });
    expect(logs).toEqual([{ level: "error", logger: "l", data: "error b" }]);
    const all: unknown[] = [];
    await client.callTool("c", {}, { onLog: ({ data }) => all.push(data), logLevel: "debug" });
    expect(all).toEqual(["debug c", "error c"]);
    expect(server.of("logging/setLevel").map(({ params }) => params)).toEqual([
      { level: "warning" },
      { level: "debug" },
    ]);
  });
});

describe("the handshake", () => {
  it("refuses a revision that is none of these, naming both sides (case 6)", async () => {
    for (const protocolVersion of ["2026-07-28", "2023-01-01", 7, undefined]) {
      const server = oldServer("2025-11-25", {}, { initialized: { protocolVersion } });
      await expect(clientOf(server)).rejects.toMatchObject({
        code: "unsupported_version",
        message: expect.stringMatching(
          new RegExp(`${JSON.stringify(protocolVersion)}.*2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05`),
        ),
      });
      expect(server.open).toBe(0);
    }
  });

  it("takes a version that is named in an error instead", async () => {
    const server = oldServer("2024-11-05", {
      initialize: ({ protocolVersion }) => {
        if (protocolVersion !== "2024-11-05") {
          throw new ProtocolError(-32602, "Unsupported protocol version", { supported: ["2024-11-05"] });
        }
        return { protocolVersion, capabilities: {}, serverInfo: { name: "old", version: "1" } };
      },
    });
    const { client } = await clientOf(server);
    expect(client.protocolVersion).toBe("2024-11-05");
    expect(server.methods).toEqual(["initialize", "initialize", "notifications/initialized"]);
  });

  it("that is refused says why, and leaves nothing open", async () => {
    const refuse = (error: ProtocolError) =>
      oldServer("2025-11-25", {
        initialize: () => {
          throw error;
        },
      });
    const unready = refuse(new ProtocolError(-32000, "Not today"));
    await expect(clientOf(unready)).rejects.toMatchObject({
      code: "protocol_error",
      message: "The server refused initialize (2025-11-25): Not today (-32000)",
      cause: { code: -32000 },
    });
    const other = refuse(new ProtocolError(-32602, "No", { supported: ["2021-01-01"] }));
    await expect(clientOf(other)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringContaining("2021-01-01"),
    });
    expect([unready.open, other.open]).toEqual([0, 0]);
  });

  it("that is not answered in time, or not wanted any more, is given up and not cancelled", async () => {
    const server = oldServer("2025-11-25", { initialize: never });
    await expect(clientOf(server, { limits: { timeoutMs: 20 } })).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringMatching(/initialize.*20 ms/),
    });
    const controller = new AbortController();
    const connecting = clientOf(server, { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(connecting).rejects.toMatchObject({
      code: "aborted",
      cause: { message: "changed my mind" },
    });
    expect(server.methods).toEqual(["initialize", "initialize"]);
    expect(server.open).toBe(0);
  });
});

describe("a request", () => {
  it("is cancelled at the server, and its late answer disturbs nothing", async () => {
    let cancelled = false;
    const server = oldServer("2025-06-18", {
      "tools/call": (_, { signal }) =>
        new Promise((_resolve) => {
          signal.addEventListener("abort", () => {
            cancelled = true;
          });
        }),
    });
    const { client } = await clientOf(server);
    const controller = new AbortController();
    const calling = client.callTool("t", {}, { signal: controller.signal });
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(1));
    controller.abort(new Error("enough"));
    await expect(calling).rejects.toMatchObject({ code: "aborted" });
    await vi.waitFor(() => expect(cancelled).toBe(true));
    const [call] = server.of("tools/call");
    expect(server.of("notifications/cancelled")[0]?.params).toEqual({
      requestId: call?.id,
      reason: "tools/call was aborted by its caller",
    });
    expect(server.message({ id: call?.id, result: {} })).toBe(true);
    expect(server.message({ id: call?.id, result: {} })).toBe(false);
    await expect(client.callTool("t", {}, { timeoutMs: 10 })).rejects.toMatchObject({ code: "timeout" });
    expect(server.of("notifications/cancelled")).toHaveLength(2);
  });

  it("is refused once closed, and what was under way is told so", async () => {
    const server = oldServer("2025-06-18", { "tools/call": never });
    const transport = await legacyTransport(server.openWire, identity);
    const request = { jsonrpc: "2.0" as const, id: 1, method: "tools/call", params: { name: "t" } };
    const calling = transport.exchange(request).catch((error: unknown) => error);
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(1));
    await Promise.all([transport.close(), transport.close()]);
    expect(await calling).toMatchObject({ code: "closed" });
    await expect(transport.exchange(request)).rejects.toMatchObject({ code: "closed" });
    expect(server.open).toBe(0);
  });

  it("begins another session where the last one was lost, and tells those who were under way", async () => {
    const server = oldServer("2025-06-18", {
      "tools/call": ({ name }) => (name === "hang" ? never() : text("ok")),
    });
    const { client } = await clientOf(server);
    const hanging = client.callTool("hang").catch((error: McpError) => error);
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(1));
    server.breakOff();
    expect(await hanging).toMatchObject({ code: "connection_lost", message: "broke off before tools/call" });
    expect(textOf(await client.callTool("t"))).toBe("ok");
    expect([server.wires, server.open]).toEqual([2, 1]);
    expect(server.of("initialize")).toHaveLength(2);
  });

  it("is told of an answer that is none", async () => {
    const server = oldServer("2025-06-18", { "tools/call": never });
    const { client } = await clientOf(server);
    const calling = client.callTool("t").catch((error: McpError) => error);
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(1));
    // Its id could not be read, and there is only one request that it can be about.
    server.message({ error: { code: -32700, message: "Parse error" } });
    expect(await calling).toMatchObject({ code: "protocol_error", cause: { code: -32700 } });
  });
});

describe("what a server sends by itself", () => {
  it("ping is answered, and what no client of these revisions has is refused", async () => {
    const server = oldServer("2025-11-25");
    await clientOf(server);
    expect(await server.ask("ping")).toMatchObject({ result: {} });
    for (const method of ["tasks/get", "elicitation/create", "sampling/createMessage", "roots/list"]) {
      expect(await server.ask(method, {})).toMatchObject({ error: { code: -32601 } });
    }
  });

  it("another notification goes to the request that it can only be about", async () => {
    const server = oldServer("2025-11-25", {
      "tools/call": (_, { notify }) => {
        notify("com.example/note", { a: 1 });
        return text("ok");
      },
    });
    const { client } = await clientOf(server);
    const seen: JSONRPCNotification[] = [];
    await client.callTool("t", {}, { onNotification: (notification) => seen.push(notification) });
    expect(seen).toEqual([{ jsonrpc: "2.0", method: "com.example/note", params: { a: 1 } }]);
    expect(() => server.notify("com.example/note")).not.toThrow();
  });
});

describe("the level of log messages", () => {
  it("is the least severe of those that are wanted at once", async () => {
    const release: (() => void)[] = [];
    const server = oldServer("2025-11-25", {
      "tools/call": () => new Promise((resolve) => release.push(() => resolve(text("ok")))),
    });
    const { client } = await clientOf(server);
    const call = (logLevel: LoggingLevel) => client.callTool("t", {}, { onLog: () => {}, logLevel });
    const calls = [call("error")];
    await vi.waitFor(() => expect(release).toHaveLength(1));
    calls.push(call("info"));
    await vi.waitFor(() => expect(release).toHaveLength(2));
    calls.push(call("critical"));
    await vi.waitFor(() => expect(release).toHaveLength(3));
    for (const go of release) go();
    await Promise.all(calls);
    expect(server.of("logging/setLevel").map(({ params }) => params?.["level"])).toEqual(["error", "info"]);
  });

  it("is no reason for a request to fail or to wait for ever", async () => {
    const refusing = oldServer("2025-11-25", {
      "tools/call": () => text("ok"),
      "logging/setLevel": () => {
        throw new ProtocolError(-32603, "No");
      },
    });
    const silent = oldServer("2025-11-25", { "tools/call": () => text("ok"), "logging/setLevel": never });
    for (const server of [refusing, silent]) {
      const { client } = await clientOf(server, { onLog: () => {} });
      expect(textOf(await client.callTool("t"))).toBe("ok");
      expect(server.of("logging/setLevel")).toHaveLength(1);
    }
    const without = oldServer(
      "2025-11-25",
      { "tools/call": () => text("ok") },
      { initialized: { capabilities: {} } },
    );
    const { client } = await clientOf(without, { onLog: () => {} });
    await client.callTool("t");
    expect(without.of("logging/setLevel")).toEqual([]);
  });
});
