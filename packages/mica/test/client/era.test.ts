/** Finding out what a server speaks (basic/versioning, transports/stdio Backward Compatibility). */
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.js";
import { findEra } from "../../src/client/era.js";
import { createExchanger } from "../../src/client/exchange.js";
import { McpError, ProtocolError } from "../../src/protocol/errors.js";
import { clientOf, DISCOVERED, scripted } from "./scripted.js";

const identity = { name: "test", version: "1.0.0" };
const VERSION = "io.modelcontextprotocol/protocolVersion";

const exchangerOf = (transport: Parameters<typeof createClient>[0], protocolVersion: string) =>
  createExchanger({
    transport,
    protocolVersion,
    clientInfo: identity,
    clientCapabilities: {},
    timeoutMs: 1_000,
    maxTimeoutMs: 1_000,
    onLog: undefined,
    logLevel: undefined,
    warn: () => {},
  });

describe("a modern server", () => {
  it("is asked server/discover once, and nothing of the initialize era (case 7)", async () => {
    const server = scripted({ "tools/list": () => ({ tools: [], ttlMs: 0, cacheScope: "public" }) });
    const client = await clientOf(server);
    await client.listTools();
    expect(server.requests.map(({ method }) => method)).toEqual(["server/discover", "tools/list"]);
    expect(client.protocolVersion).toBe("2026-07-28");
    expect(client.serverInfo).toEqual({ name: "scripted", version: "1.2.3" });
    expect(client.serverCapabilities).toEqual({ tools: {} });
    expect(client.instructions).toBeUndefined();
    await client.close();
    expect(server.closes).toBe(1);
  });

  it("answers discover() from the probe while that is fresh, and again when asked to", async () => {
    let asked = 0;
    const server = scripted({
      "server/discover": () => ({ ...DISCOVERED, ttlMs: 60_000, instructions: `answer ${++asked}` }),
    });
    const client = await clientOf(server);
    expect((await client.discover()).instructions).toBe("answer 1");
    expect((await client.discover({ fresh: true })).instructions).toBe("answer 2");
    expect(client.instructions).toBe("answer 2");
    expect(server.requests).toHaveLength(2);
    await client.close();
  });

  it("may leave out serverInfo", async () => {
    const { _meta, ...anonymous } = DISCOVERED;
    const client = await clientOf(scripted({ "server/discover": () => anonymous }));
    expect(client.serverInfo).toBeUndefined();
    await client.close();
  });

  it("that speaks other versions only is refused, naming both lists", async () => {
    const server = scripted({
      "server/discover": () => {
        throw new ProtocolError(-32022, "Unsupported protocol version", {
          supported: ["2027-01-01", "2027-05-05"],
        });
      },
    });
    const failure = await createClient(server.transport, identity).catch(
      (error: unknown) => error as McpError,
    );
    expect(failure).toBeInstanceOf(McpError);
    expect(failure).toMatchObject({ code: "unsupported_version" });
    expect((failure as McpError).message).toMatch(/2027-01-01, 2027-05-05.*2026-07-28/);
    expect(server.closes).toBe(1);
    expect(server.sent("server/discover")).toHaveLength(1);
  });

  it("that answers discover and yet speaks other versions is refused, naming both lists", async () => {
    const server = scripted({
      "server/discover": () => ({ ...DISCOVERED, supportedVersions: ["2027-01-01"] }),
    });
    await expect(createClient(server.transport, identity)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringMatching(/2027-01-01.*2026-07-28/),
    });
  });

  it("is asked again in a version that both speak", async () => {
    const server = scripted({
      "server/discover": (params) => {
        const asked = (params["_meta"] as Record<string, unknown>)[VERSION];
        if (asked === "2026-07-28") return DISCOVERED;
        throw new ProtocolError(-32022, "Unsupported protocol version", {
          supported: ["2026-07-28"],
          requested: asked,
        });
      },
    });
    const exchanger = exchangerOf(server.transport, "2030-01-01");
    const era = await findEra(exchanger, {}, ["2030-01-01", "2026-07-28"]);
    expect(era).toMatchObject({ kind: "modern", protocolVersion: "2026-07-28" });
    expect(exchanger.protocolVersion).toBe("2026-07-28");
    expect(
      server.requests.map(
        ({ params }) => (params?.["_meta"] as Record<string, unknown> | undefined)?.[VERSION],
      ),
    ).toEqual(["2030-01-01", "2026-07-28"]);
  });

  it("that refuses a version which it says it speaks is asked once more", async () => {
    let refusals = 1;
    const server = scripted({
      "server/discover": () => {
        if (refusals-- > 0) throw new ProtocolError(-32022, "No", { supported: ["2026-07-28"] });
        return DISCOVERED;
      },
    });
    const client = await clientOf(server);
    expect(client.protocolVersion).toBe("2026-07-28");
    expect(server.requests).toHaveLength(2);
    await client.close();
  });

  it("that refuses a version which it says it speaks does not keep us asking", async () => {
    const server = scripted({
      "server/discover": () => {
        throw new ProtocolError(-32022, "No", { supported: ["2026-07-28"] });
      },
    });
    await expect(createClient(server.transport, identity)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringContaining("although it says"),
    });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["-32022 without data", undefined],
    ["-32022 with a list that is none", { supported: "2026-07-28" }],
    ["-32022 with a list of no strings", { supported: [1, null] }],
  ])("%s is an error that says so", async (_, data) => {
    const server = scripted({
      "server/discover": () => {
        throw new ProtocolError(-32022, "No", data);
      },
    });
    await expect(createClient(server.transport, identity)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringMatching(/none that it names.*2026-07-28/),
    });
  });

  it.each([
    [-32021, "Missing capability"],
    [-32020, "Header mismatch"],
  ])("is recognized by %i, which is passed on", async (code, message) => {
    const server = scripted({
      "server/discover": () => {
        throw new ProtocolError(code, message);
      },
    });
    await expect(createClient(server.transport, identity)).rejects.toMatchObject({ code: "protocol_error" });
  });

  it.each([
    [{ ...DISCOVERED, supportedVersions: "2026-07-28" }, /"supportedVersions" to be an array of strings/],
    [{ ...DISCOVERED, capabilities: [] }, /"capabilities" to be an object/],
    [{ ...DISCOVERED, resultType: "input_required", requestState: "x" }, /does not allow/],
    [{ ...DISCOVERED, resultType: "partial" }, /unknown resultType "partial"/],
  ])("that answers malformed results is refused (%#)", async (result, message) => {
    const server = scripted({ "server/discover": () => result });
    await expect(createClient(server.transport, identity)).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringMatching(message),
    });
  });
});

describe("a server of an earlier revision", () => {
  it.each([
    [-32601, "Method not found"],
    [-32602, "Received request before initialization was complete"],
    [-32600, "Invalid request"],
    [-32000, "Bad Request: Server not initialized"],
    [-32002, "Server not initialized"],
    [0, "odd"],
  ])("is recognized by %i, whatever it says", async (code, message) => {
    const server = scripted({
      "server/discover": () => {
        throw new ProtocolError(code, message);
      },
    });
    const failure = (await createClient(server.transport, identity).catch(
      (error: unknown) => error,
    )) as McpError;
    expect(failure.code).toBe("unsupported_version");
    expect(failure.message).toContain(`${code}: ${message}`);
    expect(failure.message).toContain("server/discover");
    expect(failure.message).toContain("2026-07-28");
    expect(server.closes).toBe(1);
  });

  it.each([400, 404, 405])("is recognized by HTTP %i without a JSON-RPC error", async (status) => {
    const server = scripted({
      "server/discover": () => {
        const cause = Object.assign(new Error(`HTTP ${status}`), { status });
        throw new McpError("invalid_response", `http://example.test answered HTTP ${status}`, { cause });
      },
    });
    await expect(createClient(server.transport, identity)).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringMatching(new RegExp(`HTTP ${status}.*2026-07-28`)),
    });
  });

  it.each([401, 403, 500, 503])("is not concluded from HTTP %i", async (status) => {
    const server = scripted({
      "server/discover": () => {
        const cause = Object.assign(new Error(`HTTP ${status}`), { status });
        throw new McpError("connect_failed", `http://example.test answered HTTP ${status}`, { cause });
      },
    });
    await expect(createClient(server.transport, identity)).rejects.toMatchObject({ code: "connect_failed" });
  });
});

it("silence, a lost connection and an abort keep their own codes, and close the transport", async () => {
  const silent = scripted({ "server/discover": () => new Promise(() => {}) });
  await expect(
    createClient(silent.transport, { ...identity, limits: { timeoutMs: 20 } }),
  ).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("server/discover"),
  });
  expect([silent.closes, silent.open]).toEqual([1, 0]);

  const lost = scripted({
    "server/discover": () => {
      throw new McpError("connection_lost", "gone");
    },
  });
  await expect(createClient(lost.transport, identity)).rejects.toMatchObject({ code: "connection_lost" });
  expect(lost.closes).toBe(1);

  const slow = scripted({ "server/discover": () => new Promise(() => {}) });
  const controller = new AbortController();
  const connecting = createClient(slow.transport, { ...identity, signal: controller.signal });
  controller.abort(new Error("changed my mind"));
  await expect(connecting).rejects.toMatchObject({ code: "aborted", cause: { message: "changed my mind" } });
  expect(slow.closes).toBe(1);
});

it.each([
  [{ version: "1" }, /options\.name/],
  [{ name: "", version: "1" }, /options\.name/],
  [{ name: "a" }, /options\.version/],
  [{ ...identity, limits: { timeoutMs: -1 } }, /limits\.timeoutMs/],
  [{ ...identity, limits: { nonsense: 1 } }, /limits\.nonsense/],
  [{ ...identity, onElicit: "yes" }, /options\.onElicit/],
  [{ ...identity, onWarning: 1 }, /options\.onWarning/],
  [
    { ...identity, roots: [{ uri: "/tmp" }] },
    /options\.roots\[0\]\.uri: expected a file:\/\/ URI, got "\/tmp"/,
  ],
])("misuse throws a TypeError that names the option (%#)", async (options, message) => {
  const server = scripted({});
  await expect(createClient(server.transport, options as never)).rejects.toThrow(TypeError);
  await expect(createClient(server.transport, options as never)).rejects.toThrow(message);
  expect(server.requests).toEqual([]);
});
