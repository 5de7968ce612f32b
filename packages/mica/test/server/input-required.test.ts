/** Multi round-trip requests on the server: rounds, replay, steps, capabilities (patterns/mrtr). */
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { InputRequiredResult, JSONRPCResponse, Server } from "../../src/entry/index.js";
import { createServer, ToolError } from "../../src/entry/index.js";
import { memoryTransport } from "../../src/entry/testing.js";

const KEY = "k".repeat(32);
const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

let nextId = 1;
async function send(
  server: Server,
  method: string,
  params: Record<string, unknown>,
  capabilities: Record<string, unknown> = ALL,
  principal?: string,
): Promise<JSONRPCResponse> {
  const auth = principal === undefined ? undefined : { principal, scopes: [], claims: {} };
  const transport = memoryTransport(server, auth && { auth });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  return transport.exchange({ jsonrpc: "2.0", id: nextId++, method, params: { ...params, _meta } });
}

async function call(
  server: Server,
  name: string,
  params: Record<string, unknown> = {},
  ...rest: [Record<string, unknown>?, string?]
) {
  const response = await send(server, "tools/call", { name, ...params }, ...rest);
  return "result" in response ? (response.result as Record<string, unknown>) : { error: response.error };
}

async function ask(...args: Parameters<typeof call>): Promise<InputRequiredResult> {
  const result = await call(...args);
  expect(result).toMatchObject({ resultType: "input_required" });
  return result as unknown as InputRequiredResult;
}

function textOf(result: Record<string, unknown>): string {
  return (result["content"] as { text: string }[])[0]!.text;
}

function build(): { server: Server; effects: string[] } {
  const effects: string[] = [];
  const server = createServer({ name: "test", version: "1.0.0", state: { keys: KEY }, onError: () => {} });
  server.tool(
    "create_event",
    { input: z.object({ title: z.string(), startsAt: z.iso.datetime().optional() }) },
    async ({ title, startsAt }, ctx) => {
      let start = startsAt;
      if (!start) {
        const answer = await ctx.elicit("when", {
          message: `When should "${title}" start?`,
          schema: z.object({ startsAt: z.iso.datetime() }),
        });
        if (answer.action !== "accept") throw new ToolError(`Nothing was created (${answer.action}).`);
        start = answer.content.startsAt;
      }
      return ctx.step("insert", () => {
        effects.push(`${title} ${start}`);
        return `Created ${title} at ${start}`;
      });
    },
  );
  return { server, effects };
}

describe("a question", () => {
  it("ends the round with input_required and goes on when the answer comes, in another server", async () => {
    const first = build();
    const asked = await ask(first.server, "create_event", { arguments: { title: "Dentist" } });
    expect(asked.inputRequests).toEqual({
      when: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: 'When should "Dentist" start?',
          requestedSchema: {
            type: "object",
            properties: { startsAt: { type: "string", format: "date-time" } },
            required: ["startsAt"],
          },
        },
      },
    });
    expect(first.effects).toEqual([]);
    const second = build();
    const done = await call(second.server, "create_event", {
      arguments: { title: "Dentist" },
      inputResponses: { when: { action: "accept", content: { startsAt: "2026-09-10T08:30:00Z" } } },
      requestState: asked.requestState,
    });
    expect(done).toMatchObject({ resultType: "complete" });
    expect(textOf(done)).toBe("Created Dentist at 2026-09-10T08:30:00Z");
    expect(second.effects).toHaveLength(1);
  });

  it.each([
    ["decline", undefined],
    ["cancel", null],
    ["cancel", { startsAt: 17 }],
  ])(
    "answered %s with content %j is an ordinary value: content is looked at only on accept",
    async (action, content) => {
      const { server } = build();
      const asked = await ask(server, "create_event", { arguments: { title: "x" } });
      const done = await call(server, "create_event", {
        arguments: { title: "x" },
        inputResponses: { when: { action, content } },
        requestState: asked.requestState,
      });
      expect(done).toMatchObject({ isError: true });
      expect(textOf(done)).toBe(`Nothing was created (${action}).`);
    },
  );

  it.each([
    [{}],
    [{ when: { action: "accept", content: { startsAt: "soon" } } }],
    [{ when: { action: "accept" } }],
    [{ when: { action: "perhaps" } }],
    [{ when: 5 }],
    [{ other: { action: "accept", content: {} } }],
  ])("is asked again after %j", async (inputResponses) => {
    const { server, effects } = build();
    const asked = await ask(server, "create_event", { arguments: { title: "x" } });
    const again = await ask(server, "create_event", {
      arguments: { title: "x" },
      inputResponses,
      requestState: asked.requestState,
    });
    expect(Object.keys(again.inputRequests!)).toEqual(["when"]);
    expect(effects).toEqual([]);
  });

  it("names what did not fit when it is asked again", async () => {
    const { server } = build();
    const again = await ask(server, "create_event", {
      arguments: { title: "x" },
      inputResponses: { when: { action: "accept", content: { startsAt: "soon" } } },
    });
    expect((again.inputRequests!["when"]!.params as { message: string }).message).toMatch(
      /does not fit: startsAt: /,
    );
  });

  it("is not asked for ever", async () => {
    const server = createServer({ name: "t", version: "1", state: { keys: KEY, maxRounds: 3 } });
    server.tool("nag", {}, (_args, ctx) =>
      ctx.elicit("name", { message: "?", schema: z.object({ name: z.string() }) }),
    );
    let requestState: string | undefined;
    for (let round = 0; round < 3; round++) {
      const asked = await ask(server, "nag", { inputResponses: {}, ...(requestState && { requestState }) });
      requestState = asked.requestState;
    }
    const end = await call(server, "nag", { inputResponses: {}, requestState });
    expect(end).toMatchObject({ error: { code: -32603, message: expect.stringContaining("3 rounds") } });
  });

  it("ends the round even where the handler swallows the signal, and no step runs after it", async () => {
    const ran: string[] = [];
    const server = createServer({ name: "t", version: "1", state: { keys: KEY } });
    server.tool("swallow", {}, async (_args, ctx) => {
      try {
        await ctx.elicit("name", { message: "?", schema: z.object({ name: z.string() }) });
      } catch {
        await ctx.step("fallback", () => ran.push("fallback")).catch(() => {});
      }
      return "finished without an answer";
    });
    server.tool("forget", {}, (_args, ctx) => {
      void ctx.elicit("name", { message: "?", schema: z.object({ name: z.string() }) });
      return "finished without an answer";
    });
    await ask(server, "swallow");
    await ask(server, "forget");
    expect(ran).toEqual([]);
  });

  it("throws TypeError where its key is used twice", async () => {
    const errors: unknown[] = [];
    const server = createServer({ name: "t", version: "1", onError: (error) => errors.push(error) });
    server.tool("twice", {}, async (_args, ctx) => {
      await Promise.all([ctx.roots("a"), ctx.roots("a")]);
    });
    await call(server, "twice", { inputResponses: { a: { roots: [] } } });
    expect(String(errors[0])).toMatch(/question "a" is used twice/);
  });
});

describe("several questions", () => {
  const Name = z.object({ name: z.string() });

  it("asked together make one round", async () => {
    const server = createServer({ name: "t", version: "1", state: { keys: KEY } });
    server.tool("both", {}, async (_args, ctx) => {
      const [one, two] = await Promise.all([
        ctx.elicit("one", { message: "1", schema: Name }),
        ctx.sample("two", { messages: [], maxTokens: 5 }),
      ]);
      return [one, two.model];
    });
    server.tool("record", {}, async (_args, ctx) => {
      const { one, two, three } = await ctx.ask({
        one: { elicit: { message: "1", schema: Name } },
        two: { elicitUrl: { message: "2", url: "https://example.com/" } },
        three: { roots: true },
      });
      return [one.action === "accept" && one.content.name, two.action, three.length];
    });
    expect(Object.keys((await ask(server, "both")).inputRequests!)).toEqual(["one", "two"]);
    const asked = await ask(server, "record");
    expect(Object.keys(asked.inputRequests!)).toEqual(["one", "two", "three"]);
    const done = await call(server, "record", {
      requestState: asked.requestState,
      inputResponses: {
        one: { action: "accept", content: { name: "n" } },
        two: { action: "decline" },
        three: { roots: [{ uri: "file:///a" }] },
        extra: { action: "accept" },
      },
    });
    expect(textOf(done)).toBe('["n","decline",1]');
  });

  it("keep the answers of earlier rounds in the state", async () => {
    const server = createServer({ name: "t", version: "1", state: { keys: KEY } });
    server.tool("chain", {}, async (_args, ctx) => {
      const a = await ctx.elicit("a", { message: "a", schema: Name });
      const b = await ctx.elicit("b", { message: "b", schema: Name });
      return [a.action === "accept" && a.content.name, b.action === "accept" && b.content.name];
    });
    const first = await ask(server, "chain");
    const second = await ask(server, "chain", {
      requestState: first.requestState,
      inputResponses: { a: { action: "accept", content: { name: "A" } } },
    });
    expect(Object.keys(second.inputRequests!)).toEqual(["b"]);
    const done = await call(server, "chain", {
      requestState: second.requestState,
      inputResponses: { b: { action: "accept", content: { name: "B" } } },
    });
    expect(textOf(done)).toBe('["A","B"]');
  });
});

describe("a step", () => {
  it("runs once over three rounds, beside a question too, and keeps its idempotency key", async () => {
    const runs: string[] = [];
    const make = () => {
      const server = createServer({ name: "t", version: "1", state: { keys: KEY } });
      server.tool("order", {}, async (_args, ctx) => {
        const [stock] = await Promise.all([
          ctx.step("reserve", async ({ idempotencyKey }) => {
            await new Promise((resolve) => setTimeout(resolve, 5));
            runs.push(`reserve ${idempotencyKey}`);
            return { at: new Date(0), nothing: undefined };
          }),
          ctx.elicit("first", { message: "?", schema: z.object({ ok: z.boolean() }) }),
        ]);
        await ctx.step("void", () => void runs.push("void"));
        await ctx.elicit("second", { message: "?", schema: z.object({ ok: z.boolean() }) });
        return ctx.step("last", ({ idempotencyKey }) => {
          runs.push(`last ${idempotencyKey}`);
          return stock;
        });
      });
      return server;
    };
    const yes = { action: "accept", content: { ok: true } };
    const one = await ask(make(), "order");
    const two = await ask(make(), "order", {
      requestState: one.requestState,
      inputResponses: { first: yes },
    });
    const done = await call(make(), "order", {
      requestState: two.requestState,
      inputResponses: { second: yes },
    });
    expect(textOf(done)).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
    expect(runs.map((run) => run.split(" ")[0])).toEqual(["reserve", "void", "last"]);
    const [reserve, , last] = runs.map((run) => run.split(" ")[1]?.split(":")[0]);
    expect(reserve).toBe(last);
  });

  it("that throws runs again at the next attempt, and its error is the call's", async () => {
    let attempts = 0;
    const server = createServer({ name: "t", version: "1", state: { keys: KEY } });
    server.tool("flaky", {}, (_args, ctx) =>
      ctx.step("once", () => {
        attempts++;
        throw new ToolError("The shop is closed.");
      }),
    );
    expect(textOf(await call(server, "flaky"))).toBe("The shop is closed.");
    await call(server, "flaky");
    expect(attempts).toBe(2);
  });
});

describe("capabilities", () => {
  it.each([
    ["elicit", {}, { elicitation: { form: {} } }],
    ["elicit", { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ["elicitUrl", { elicitation: {} }, { elicitation: { url: {} } }],
    ["sample", {}, { sampling: {} }],
    ["sampleTools", { sampling: {} }, { sampling: { tools: {} } }],
    ["roots", {}, { roots: {} }],
  ] as const)(
    "%s with %j is -32021 naming what is missing",
    async (kind, capabilities, requiredCapabilities) => {
      const server = createServer({ name: "t", version: "1" });
      server.tool("ask", {}, async (_args, ctx) => {
        expect(ctx.can(kind)).toBe(false);
        if (kind === "elicit") await ctx.elicit("q", { message: "?", schema: z.object({ a: z.string() }) });
        if (kind === "elicitUrl") await ctx.elicitUrl("q", { message: "?", url: "https://example.com" });
        if (kind === "sample") await ctx.sample("q", { messages: [], maxTokens: 1 });
        if (kind === "sampleTools") await ctx.sample("q", { messages: [], maxTokens: 1, tools: [] });
        if (kind === "roots") await ctx.roots();
      });
      const result = await call(server, "ask", {}, capabilities);
      expect(result).toMatchObject({ error: { code: -32021, data: { requiredCapabilities } } });
    },
  );

  it("an empty elicitation capability means forms", async () => {
    const { server } = build();
    await ask(server, "create_event", { arguments: { title: "x" } }, { elicitation: {} });
  });
});

describe("prompts and resources", () => {
  it("may ask as well", async () => {
    const server = createServer({ name: "t", version: "1", state: { keys: KEY } });
    const question = { message: "Focus?", schema: z.object({ focus: z.string() }) };
    server.prompt("plan", {}, async (_args, ctx) => {
      const answer = await ctx.elicit("focus", question);
      return answer.action === "accept" ? answer.content.focus : "none";
    });
    server.resource("x://a", { name: "a" }, async (ctx) => {
      const answer = await ctx.elicit("focus", question);
      return answer.action === "accept" ? answer.content.focus : "none";
    });
    const inputResponses = { focus: { action: "accept", content: { focus: "deep work" } } };
    for (const [method, params] of [
      ["prompts/get", { name: "plan" }],
      ["resources/read", { uri: "x://a" }],
    ] as const) {
      const asked = (await send(server, method, params)) as { result: InputRequiredResult };
      expect(asked.result.resultType).toBe("input_required");
      expect(asked.result).not.toHaveProperty("ttlMs");
      const { requestState } = asked.result;
      const done = await send(server, method, { ...params, inputResponses, requestState });
      expect(JSON.stringify(done)).toContain("deep work");
    }
  });
});

describe("requestState", () => {
  it("is refused where it was changed, cut, or belongs to another tool, argument or caller", async () => {
    const { server, effects } = build();
    server.tool("other", {}, () => "other");
    const args = { title: "Dentist" };
    const asked = await ask(server, "create_event", { arguments: args }, ALL, "alice");
    const state = asked.requestState!;
    const inputResponses = { when: { action: "accept", content: { startsAt: "2026-09-10T08:30:00Z" } } };
    const refused = async (params: Record<string, unknown>, name = "create_event", principal = "alice") => {
      const result = await call(server, name, { arguments: args, inputResponses, ...params }, ALL, principal);
      expect(result).toMatchObject({
        error: { code: -32602, message: expect.stringContaining("requestState") },
      });
    };
    for (let at = 0; at < state.length; at++) {
      const changed = state[at] === "A" ? "B" : "A";
      await refused({ requestState: state.slice(0, at) + changed + state.slice(at + 1) });
      await refused({ requestState: state.slice(0, at) });
    }
    await refused({ requestState: `${state}A` });
    await refused({ requestState: 17 });
    await refused({ requestState: "" });
    await refused({ requestState: state, arguments: {} }, "other");
    await refused({ requestState: state, arguments: { title: "Doctor" } });
    await refused({ requestState: state }, "create_event", "bob");
    expect(effects).toEqual([]);
    const reordered = await call(
      server,
      "create_event",
      { requestState: state, arguments: args, inputResponses },
      ALL,
      "alice",
    );
    expect(reordered).toMatchObject({ resultType: "complete" });
  });

  it("expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const { server } = build();
      const asked = await ask(server, "create_event", { arguments: { title: "x" } });
      vi.setSystemTime(Date.now() + 15 * 60_000);
      const late = await call(server, "create_event", {
        arguments: { title: "x" },
        requestState: asked.requestState,
      });
      expect(late).toMatchObject({ error: { code: -32602, message: expect.stringContaining("expired") } });
    } finally {
      vi.useRealTimers();
    }
  });

  it("opens with a rotated key, and with none but the given ones", async () => {
    const make = (keys?: string[]) => {
      const server = createServer({ name: "t", version: "1", ...(keys && { state: { keys } }) });
      server.tool("ask", {}, (_args, ctx) => ctx.roots());
      return server;
    };
    const [old, fresh] = ["o".repeat(32), "n".repeat(32)];
    const { requestState } = await ask(make([old]), "ask");
    expect(await call(make([fresh, old]), "ask", { requestState })).toMatchObject({
      resultType: "input_required",
    });
    expect(await call(make([fresh]), "ask", { requestState })).toMatchObject({ error: { code: -32602 } });
    const stderr = vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await call(make(), "ask", { requestState })).toMatchObject({ error: { code: -32602 } });
    expect(stderr.mock.calls.join()).toContain("MICA_STATE_KEY");
    stderr.mockRestore();
  });
});

describe("keys", () => {
  it("that are too short are refused when the server is made, wherever they come from", () => {
    const make = (keys?: string) => () =>
      createServer({ name: "t", version: "1", ...(keys && { state: { keys } }) });
    expect(make("short")).toThrow(/state\.keys: key 1 must be a secret of at least 32 characters/);
    vi.stubEnv("MICA_STATE_KEY", `${KEY},short`);
    expect(make()).toThrow(/MICA_STATE_KEY: key 2/);
    vi.unstubAllEnvs();
    expect(make()).not.toThrow();
  });
});
