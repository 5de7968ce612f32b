/** Servers of both eras as processes: which branch of the rule is taken, and that nothing of it disturbs what follows. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Client } from "../../../src/client/client.js";
import type { ClientOptions } from "../../../src/client/options.js";
import { type CommandTarget, connect } from "../../../src/connect.js";
import { traces } from "../../stdio/launched.js";
import { VERSIONS } from "../legacy-schema.js";
import { textOf } from "./old-server.js";

const SERVER = fileURLToPath(new URL("./fixtures/old-stdio.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "mica-eras-"));
const open: Client[] = [];
let before: Record<string, number>;
let run = 0;

beforeAll(() => {
  before = traces();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await vi.waitFor(() => expect(traces()).toEqual(before), 10_000);
});

interface Opened {
  readonly client: Client;
  /** The methods that the process has received. */
  received(): Promise<string[]>;
  readonly warnings: string[];
}

async function start(
  flags: readonly string[],
  { probeTimeoutMs = 10_000, ...options }: Partial<ClientOptions> & { probeTimeoutMs?: number } = {},
  target: Partial<CommandTarget> = {},
): Promise<Opened> {
  const warnings: string[] = [];
  // A variable of its own keeps one test from what another one found out.
  const env = { RUN: String(++run) };
  const client = await connect(
    { command: process.execPath, args: [SERVER, ...flags], env, ...target },
    {
      name: "test",
      version: "1.0.0",
      limits: { probeTimeoutMs },
      onWarning: ({ message }) => warnings.push(message),
      ...options,
    },
  );
  open.push(client);
  const received = async () => JSON.parse(textOf(await client.callTool("received"))) as string[];
  return { client, received, warnings };
}

const HANDSHAKE = ["initialize", "notifications/initialized"];
const CALL = "tools/call";

describe("a server of an earlier revision", () => {
  it.each(VERSIONS)(
    "of %s is found by the error that it answers, and spoken to in the same process",
    async (version) => {
      const { client, received, warnings } = await start([`--version=${version}`]);
      expect(client.era).toEqual({
        era: "legacy",
        revision: version,
        branch: "legacy_error",
        saw: ["it answered server/discover with -32601: What is that?", `initialize: ${version}`],
      });
      expect(client.protocolVersion).toBe(version);
      expect(await received()).toEqual(["server/discover", ...HANDSHAKE, CALL]);
      expect(warnings).toEqual([]);
    },
  );

  it.each([-32602, -32600, -32000, -32002, 0])("may answer %i as well", async (code) => {
    const { client } = await start([`--unknown=${code}`]);
    expect(client.era.branch).toBe("legacy_error");
    expect(client.era.saw[0]).toContain(String(code));
  });

  it("is waited for without an end where the caller wants that", async () => {
    const forever = Number.POSITIVE_INFINITY;
    const { client } = await start([], { limits: { probeTimeoutMs: forever, timeoutMs: forever } });
    expect(client.era.branch).toBe("legacy_error");
  });

  it("may answer with a result that says nothing", async () => {
    const { client } = await start(["--unknown=empty"]);
    expect(client.era).toMatchObject({ era: "legacy", branch: "legacy_result" });
  });

  it("may stay silent", async () => {
    const { client, received, warnings } = await start(["--unknown=silent"], { probeTimeoutMs: 300 });
    expect(client.era).toMatchObject({
      branch: "silence",
      saw: ["server/discover: no answer within 300 ms", "initialize: 2025-11-25"],
    });
    expect(await received()).toEqual(["server/discover", ...HANDSHAKE, CALL]);
    expect(warnings).toEqual([]);
  });

  it.each([true, false])("may not survive it, and is started again (restart: %s)", async (restart) => {
    const { client, received } = await start(["--unknown=exit"], {}, { restart });
    expect(client.era).toMatchObject({
      branch: "exit",
      saw: [expect.stringMatching(/server\/discover.*exited with code 1/), "initialize: 2025-11-25"],
    });
    expect(await received()).toEqual([...HANDSHAKE, CALL]);
  });

  it("may be slow to start, and then not survive it", async () => {
    const { client, received } = await start(["--unknown=exit", "--start-ms=600"], { probeTimeoutMs: 50 });
    expect(client.era.branch).toBe("exit");
    expect(await received()).toEqual([...HANDSHAKE, CALL]);
  });

  it("may refuse it long after it has been greeted, which disturbs nothing", async () => {
    const { client, received, warnings } = await start(["--discover-ms=900"], { probeTimeoutMs: 50 });
    expect(client.era.branch).toBe("silence");
    const pids = new Set<string>();
    const until = performance.now() + 1_500;
    while (performance.now() < until) {
      pids.add(textOf(await client.callTool("pid")));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(pids.size).toBe(1);
    expect((await received()).filter((method) => method !== CALL)).toEqual(["server/discover", ...HANDSHAKE]);
    expect(warnings).toEqual([]);
  });
});

describe("a modern server", () => {
  it.each([
    ["refuses initialize", "none"],
    ["accepts initialize, too", "2025-11-25"],
  ])("that is slow to start and %s stays modern", async (_, version) => {
    const flags = ["--modern", `--version=${version}`, "--start-ms=600"];
    const { client, received, warnings } = await start(flags, { probeTimeoutMs: 50 });
    expect(client.era).toMatchObject({ era: "modern", revision: "2026-07-28", branch: "discovered" });
    const methods = await received();
    expect(methods.slice(0, 2)).toEqual(["server/discover", "initialize"]);
    expect(methods.at(-1)).toBe(CALL);
    expect(methods).not.toContain("notifications/cancelled");
    expect(warnings).toEqual([]);
  });

  it("that refuses initialize before it has answered the probe stays modern", async () => {
    const { client, warnings } = await start(["--modern", "--version=none", "--discover-ms=600"], {
      probeTimeoutMs: 50,
    });
    expect(client.era.branch).toBe("discovered");
    expect(textOf(await client.callTool("pid"))).toMatch(/^\d+$/);
    expect(warnings).toEqual([]);
  });

  it("that was met too slowly for the probe and accepts initialize is spoken to as it answered", async () => {
    const { client } = await start(["--modern", "--discover-ms=2000"], { probeTimeoutMs: 50 });
    expect(client.era).toMatchObject({ era: "legacy", branch: "silence" });
    expect(textOf(await client.callTool("pid"))).toMatch(/^\d+$/);
  });
});

describe("what was found", () => {
  it("is remembered, and found out again where it does not hold any more", async () => {
    const file = join(folder, "mode");
    const flags = [`--mode-file=${file}`];
    const env = { RUN: "shared" };
    writeFileSync(file, "--version=2025-03-26");
    const first = await start(flags, {}, { env });
    expect(first.client.era.branch).toBe("legacy_error");
    const second = await start(flags, {}, { env });
    expect(second.client.era).toMatchObject({ branch: "remembered", saw: ["initialize: 2025-03-26"] });
    expect(await second.received()).toEqual([...HANDSHAKE, CALL]);
    writeFileSync(file, "--modern --version=none");
    const third = await start(flags, {}, { env });
    expect(third.client.era).toMatchObject({
      era: "modern",
      branch: "discovered",
      saw: [
        expect.stringMatching(/^initialize, as before: .*refused initialize/),
        "server/discover: 2026-07-28",
      ],
    });
    writeFileSync(file, "--unknown=exit");
    const fourth = await start(flags, {}, { env });
    expect(fourth.client.era.branch).toBe("exit");
    writeFileSync(file, "--crash");
    await expect(start(flags, {}, { env })).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("is not asked for where the caller says what to speak", async () => {
    const legacy = await start(["--modern"], { era: "legacy" });
    expect(legacy.client.era).toMatchObject({
      era: "legacy",
      branch: "forced",
      saw: ["initialize: 2025-11-25"],
    });
    expect(await legacy.received()).toEqual([...HANDSHAKE, CALL]);
    await expect(start([], { era: "modern" })).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringMatching(/-32601.*2026-07-28/),
    });
    await expect(start(["--modern", "--version=none"], { era: "legacy" })).rejects.toMatchObject({
      code: "protocol_error",
      message: expect.stringContaining("this server speaks 2026-07-28"),
    });
    await expect(start([], { era: "new" as never })).rejects.toThrow(
      new TypeError('options.era: expected "auto", "modern" or "legacy", got "new"'),
    );
    const transport = {
      mirrorsArguments: false,
      exchange: () => expect.unreachable(),
      close: async () => {},
    };
    await expect(connect({ transport }, { name: "t", version: "1", era: "legacy" })).rejects.toThrow(
      /options.era: "legacy" needs a target/,
    );
  });
});

describe("a process", () => {
  it("that dies is started again by the next request, with a new handshake", async () => {
    const { client, received } = await start([]);
    const first = textOf(await client.callTool("pid"));
    const hanging = client.callTool("hang").catch((error: unknown) => error);
    await expect(client.callTool("crash")).rejects.toMatchObject({
      code: "connection_lost",
      message: expect.stringMatching(/exited with code 7 before it answered tools\/call/),
      cause: { exitCode: 7 },
    });
    expect(await hanging).toMatchObject({ code: "connection_lost" });
    expect(textOf(await client.callTool("pid"))).not.toBe(first);
    expect(await received()).toEqual([...HANDSHAKE, CALL, CALL]);
  });

  it("is not started again where the caller does not want that", async () => {
    const { client } = await start([], {}, { restart: false });
    await expect(client.callTool("crash")).rejects.toMatchObject({ code: "connection_lost" });
    await expect(client.callTool("pid")).rejects.toMatchObject({
      code: "connection_lost",
      cause: { exitCode: 7 },
    });
  });

  it("that cannot be started, or ends whatever it is told, is an error with all that is known", async () => {
    await expect(start([], {}, { command: "no-such-program-anywhere" })).rejects.toMatchObject({
      code: "connect_failed",
      message: expect.stringContaining("there is no such program"),
    });
    await expect(start(["--crash"])).rejects.toMatchObject({
      code: "connection_lost",
      message: expect.stringMatching(/exited with code 3[\s\S]*the disk is full/),
    });
  });

  it("may answer in arrays, twice, and with words in between", async () => {
    const { client, warnings } = await start(["--version=2025-03-26", "--batch"], {
      onElicit: () => ({ action: "accept", content: {} }),
    });
    expect(JSON.parse(textOf(await client.callTool("ask")))).toEqual({ action: "accept", content: {} });
    expect(textOf(await client.callTool("stray"))).toBe("ok");
    expect(textOf(await client.callTool("answer_twice"))).toBe("first");
    expect(textOf(await client.callTool("pid"))).toMatch(/^\d+$/);
    expect(warnings).toEqual([expect.stringContaining("plain words"), expect.stringContaining("second")]);
  });

  it("keeps to the limits of messages, either way", async () => {
    const { client } = await start([], {}, { maxMessageBytes: 10_000 });
    await expect(client.callTool("long", { length: 20_000 })).rejects.toMatchObject({
      code: "limit_exceeded",
    });
    await expect(client.callTool("pid", { text: "x".repeat(20_000) })).rejects.toMatchObject({
      code: "limit_exceeded",
    });
    expect(textOf(await client.callTool("pid"))).toMatch(/^\d+$/);
  });

  it("is not waited for any longer than the caller wants", async () => {
    for (const probeTimeoutMs of [50, 10_000]) {
      const controller = new AbortController();
      const connecting = start(["--start-ms=20000"], { probeTimeoutMs, signal: controller.signal });
      setTimeout(() => controller.abort(new Error("enough")), 500);
      await expect(connecting).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
    }
    await expect(
      start(["--start-ms=20000"], { limits: { probeTimeoutMs: 50, timeoutMs: 300 } }),
    ).rejects.toMatchObject({ code: "timeout" });
  });
});
