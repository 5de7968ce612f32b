import type { Client } from "mica-mcp/client";
import { connect, ErrorCode, McpError, ProtocolError } from "mica-mcp/client";
import { type MemoryTransport, memoryTransport } from "mica-mcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createIncidentServer } from "../src/server.js";
import { openSqliteStore } from "../src/sqlite-store.js";
import { type IncidentStore, StoreError } from "../src/store.js";
import { temporaryFiles } from "./folder.js";

const file = temporaryFiles();
let path: string;
let store: IncidentStore;
let transport: MemoryTransport;
let client: Client;

beforeEach(async () => {
  path = file();
  store = openSqliteStore(path, { watchEveryMs: 10 });
  transport = memoryTransport(createIncidentServer(store));
  client = await connect({ transport }, { name: "test", version: "1.0.0" });
});

afterEach(async () => {
  await client.close();
  expect(transport.inFlight).toBe(0);
  await store.close();
});

interface Reply {
  readonly isError: boolean;
  readonly text: string;
}

async function call(name: string, args: Record<string, unknown> = {}): Promise<Reply> {
  const { content, isError = false } = await client.callTool(name, args);
  expect(content).toHaveLength(1);
  const [block] = content;
  return { isError, text: block?.type === "text" ? block.text : "" };
}

async function value(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const { isError, text } = await call(name, args);
  expect(isError, text).toBe(false);
  return JSON.parse(text) as Record<string, unknown>;
}

async function problem(name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { isError, text } = await call(name, args);
  expect(isError, text).toBe(true);
  return text;
}

async function read(uri: string): Promise<unknown> {
  const { contents, ttlMs, cacheScope } = await client.readResource(uri);
  expect({ ttlMs, cacheScope }).toEqual({ ttlMs: 0, cacheScope: "private" });
  const [item] = contents;
  expect(item).toMatchObject({ uri, mimeType: "application/json" });
  return JSON.parse(item !== undefined && "text" in item ? item.text : "");
}

async function refusal(request: Promise<unknown>): Promise<ProtocolError> {
  const error = await request.then(
    () => expect.unreachable("it was not refused"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(McpError);
  expect((error as McpError).cause).toBeInstanceOf(ProtocolError);
  return (error as McpError).cause as ProtocolError;
}

const open = async (title = "Queue backed up", severity = "sev2") =>
  String((await value("open_incident", { title, severity }))["id"]);

describe("tools", () => {
  it("are three, annotated for what they do, in a lean catalogue", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
      ["search_incidents", { readOnlyHint: true, openWorldHint: false }],
      ["open_incident", { readOnlyHint: false, destructiveHint: false, openWorldHint: false }],
      [
        "resolve_incident",
        { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      ],
    ]);
    const read = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    expect(JSON.stringify(read).length).toBeLessThan(1250);
    expect(JSON.stringify(read)).not.toMatch(/\$schema|maxLength/);
  });

  it("open, find and resolve an incident by its handle", async () => {
    expect(
      await value("open_incident", { title: "  Queue backed up ", severity: "sev2", description: "all day" }),
    ).toEqual({
      id: "INC-1",
      state: "open",
      openedAt: expect.any(String),
    });
    const { incidents } = (await value("search_incidents", { text: "queue" })) as { incidents: unknown[] };
    const row = {
      id: "INC-1",
      title: "Queue backed up",
      severity: "sev2",
      state: "open",
      openedAt: expect.any(String),
    };
    expect(incidents).toEqual([row]);
    expect(await value("search_incidents", { text: "inc-1" })).toEqual({
      incidents: [{ ...row, description: "all day" }],
    });
    const resolved = await value("resolve_incident", { id: "INC-1", cause: "A consumer leaked memory" });
    expect(resolved).toEqual({
      ...row,
      state: "resolved",
      description: "all day",
      resolvedAt: expect.any(String),
      cause: "A consumer leaked memory",
    });
    expect(await value("resolve_incident", { id: " inc-1", cause: "Another story" })).toEqual(resolved);
    expect(await value("search_incidents", { state: "open" })).toEqual({ incidents: [] });
    expect(
      await value("search_incidents", { text: "consumer", state: "resolved", severity: "sev2" }),
    ).toMatchObject({
      incidents: [{ id: "INC-1", cause: "A consumer leaked memory" }],
    });
  });

  it("page through everything with the cursor that the last page gave", async () => {
    for (let at = 0; at < 45; at += 1) await open();
    const first = await value("search_incidents");
    expect(first["incidents"]).toHaveLength(20);
    const second = await value("search_incidents", { cursor: first["nextCursor"] });
    const third = await value("search_incidents", { cursor: second["nextCursor"], limit: 5 });
    expect(third["nextCursor"]).toBeUndefined();
    const ids = [first, second, third].flatMap((page) =>
      (page["incidents"] as { id: string }[]).map(({ id }) => id),
    );
    expect(ids).toEqual(Array.from({ length: 45 }, (_, at) => `INC-${45 - at}`));
  });

  it.each([
    ["search_incidents", { cursor: "p1" }, 'Invalid cursor "p1": expected a nextCursor of search_incidents.'],
    ["search_incidents", { cursor: "" }, 'Invalid cursor "": expected a nextCursor of search_incidents.'],
    ["search_incidents", { cursor: "before-99999999999999999999" }, /^Invalid cursor/],
    ["search_incidents", { limit: 0 }, /limit/],
    ["search_incidents", { limit: 101 }, /limit/],
    ["search_incidents", { limit: 1.5 }, /limit/],
    ["search_incidents", { severity: "high" }, /severity.*sev1/],
    ["search_incidents", { state: "closed" }, /state.*open.*resolved/],
    ["search_incidents", { status: "open" }, /status/],
    ["search_incidents", { text: "x".repeat(201) }, /text: Expected 0 to 200 characters, got 201/],
    ["open_incident", { title: "  ", severity: "sev1" }, /title: Expected 1 to 200 characters, got 0/],
    [
      "open_incident",
      { title: "x".repeat(201), severity: "sev1" },
      /title: Expected 1 to 200 characters, got 201/,
    ],
    ["open_incident", { title: "No severity" }, /severity/],
    ["open_incident", {}, /title/],
    ["open_incident", { title: 5, severity: "bad" }, /title[\s\S]*severity/],
    ["resolve_incident", { id: "INC-9", cause: "x" }, "No incident INC-9. Call search_incidents to find it."],
    ["resolve_incident", { id: "inc-9", cause: "x" }, "No incident INC-9. Call search_incidents to find it."],
    [
      "resolve_incident",
      { id: "9", cause: "x" },
      '"9" is no handle: expected one like INC-3. Call search_incidents to find it.',
    ],
    ["resolve_incident", { id: "INC-0", cause: "x" }, /^"INC-0" is no handle/],
    ["resolve_incident", { id: "INC-1.5", cause: "x" }, /is no handle/],
    ["resolve_incident", { id: `INC-${"9".repeat(80)}`, cause: "x" }, /^"INC-9+\.\.\." is no handle/],
    ["resolve_incident", { id: "INC-1", cause: " " }, /cause: Expected 1 to 1000 characters, got 0/],
    [
      "open_incident",
      { title: "Disk \u001b[31mfull", severity: "sev1" },
      /title: Expected one line of text without control characters or characters that reorder text, got U\+001B at character 6/,
    ],
    ["open_incident", { title: "Disk\nfull", severity: "sev1" }, /title: .* got U\+000A at character 5/],
    ["open_incident", { title: "Disk \u202elluf", severity: "sev1" }, /title: .* got U\+202E/],
    ["open_incident", { title: "\u2066Disk\u2069", severity: "sev1" }, /title: .* got U\+2066/],
    [
      "open_incident",
      { title: "Disk \ud83d", severity: "sev1" },
      /title: Expected whole characters, got half of one, U\+D83D at character 6/,
    ],
    [
      "open_incident",
      { title: "Disk", severity: "sev1", description: "a\u0000b" },
      /description: .* U\+0000/,
    ],
    [
      "open_incident",
      { title: "Disk", severity: "sev1", description: "a\u202eb" },
      /description: .* U\+202E/,
    ],
    ["resolve_incident", { id: "INC-1", cause: "\udc00" }, /cause: Expected whole characters/],
    ["search_incidents", { text: "\u0000" }, /text: Expected text without control characters .* U\+0000/],
    ["search_incidents", { text: "\ud800" }, /text: Expected whole characters/],
    ["search_incidents", { text: "\u200b" }, /text: Expected words to search for/],
  ])("%s %j says what is wrong", async (name, args, message) => {
    const text = await problem(name, args);
    if (message instanceof RegExp) expect(text).toMatch(message);
    else expect(text).toBe(message);
    expect(await value("search_incidents")).toEqual({ incidents: [] });
  });

  it("keep right-to-left text, its marks, lines and emoji as they were written", async () => {
    const title = "\u05e9\u05d9\u05e8\u05d5\u05ea \u200fdb-7\u200e down \ud83d\udc69\u200d\ud83d\ude80";
    const description = "First line\n\tsecond\r\nthird";
    const { id } = (await value("open_incident", { title, severity: "sev2", description })) as { id: string };
    expect(await value("search_incidents", { text: id })).toMatchObject({
      incidents: [{ title, description }],
    });
    expect(await value("search_incidents", { text: "db-7" })).toMatchObject({ incidents: [{ title }] });
  });

  it("say what the store says, and nothing of what it does not mean to say", async () => {
    const failing = (error: Error): IncidentStore => ({
      ...store,
      of: (tenant) => ({ ...store.of(tenant), open: () => Promise.reject(error) }),
    });
    const reported: unknown[] = [];
    const ask = async (error: Error) => {
      const server = createIncidentServer(failing(error), { onError: (reason) => reported.push(reason) });
      await using asking = await connect(
        { transport: memoryTransport(server) },
        { name: "test", version: "1.0.0" },
      );
      const { isError, content } = await asking.callTool("open_incident", { title: "x", severity: "sev1" });
      expect(isError).toBe(true);
      return content[0]?.type === "text" ? content[0].text : "";
    };
    expect(await ask(new StoreError("The disk is full"))).toBe("The disk is full.");
    const secret = new Error("password=1234");
    expect(await ask(secret)).not.toContain("1234");
    expect(reported).toEqual([secret]);
  });

  it("need no process to have opened what they resolve", async () => {
    const id = await open();
    const elsewhere = openSqliteStore(path);
    const transport = memoryTransport(createIncidentServer(elsewhere));
    const other = await connect({ transport }, { name: "other", version: "1.0.0" });
    await other.callTool("resolve_incident", { id, cause: "Found elsewhere" });
    await other.close();
    await elsewhere.close();
    expect(await read(`incidents://${id}`)).toMatchObject({ state: "resolved", cause: "Found elsewhere" });
  });
});

describe("resources", () => {
  it("list what is open, and show one incident in full", async () => {
    expect(await read("incidents://open")).toEqual({ total: 0, incidents: [] });
    await value("open_incident", { title: "One", severity: "sev1", description: "long story" });
    await open("Two", "sev4");
    await value("resolve_incident", { id: "INC-2", cause: "Known" });
    const one = { id: "INC-1", title: "One", severity: "sev1", state: "open", openedAt: expect.any(String) };
    expect(await read("incidents://open")).toEqual({ total: 1, incidents: [one] });
    expect(await read("incidents://INC-1")).toEqual({ ...one, description: "long story" });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["incidents://open"]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["incidents://{id}"]);
  });

  it("bound the list of what is open, and count all of it", async () => {
    for (let at = 0; at < 103; at += 1) await store.of("").open({ title: `Number ${at}`, severity: "sev3" });
    const listed = (await read("incidents://open")) as { total: number; incidents: { id: string }[] };
    expect(listed.total).toBe(103);
    expect(listed.incidents).toHaveLength(100);
    expect(listed.incidents[0]?.id).toBe("INC-103");
  });

  it.each([
    "incidents://INC-1",
    "incidents://inc-1",
    "incidents://INC-01",
    "incidents://1",
    "incidents://INC%2D1",
    "incidents://closed",
    "incidents://__proto__",
  ])("do not exist at %s", async (uri) => {
    if (uri !== "incidents://INC-1") await open();
    const error = await refusal(client.readResource(uri));
    expect(error).toMatchObject({ code: ErrorCode.InvalidParams, data: { uri } });
  });
});

describe("subscriptions", () => {
  async function listened(uris: string[], act: () => Promise<unknown>, count: number): Promise<string[]> {
    const subscription = client.listen({ resourceSubscriptions: uris });
    expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: uris });
    await act();
    const heard: string[] = [];
    for await (const event of subscription) {
      if (event.type === "resourceUpdated") heard.push(event.uri);
      if (heard.length === count) break;
    }
    return heard;
  }

  it("tell of what is opened and resolved here", async () => {
    const heard = await listened(
      ["incidents://open", "incidents://INC-1"],
      async () => {
        await open();
        await open();
        await value("resolve_incident", { id: "INC-1", cause: "Known" });
        await value("resolve_incident", { id: "INC-1", cause: "Known" });
        await open();
      },
      // The queue of a client keeps one event for each thing that changed, until it is taken.
      2,
    );
    expect(new Set(heard)).toEqual(new Set(["incidents://open", "incidents://INC-1"]));
  });

  it("tell of each change once, in order, on the wire", async () => {
    const updates: unknown[] = [];
    const controller = new AbortController();
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const ended = transport
      .exchange(
        {
          jsonrpc: "2.0",
          id: "listen",
          method: "subscriptions/listen",
          params: {
            _meta: meta,
            notifications: {
              resourceSubscriptions: ["incidents://open", "incidents://INC-1", "incidents://INC-2"],
            },
          },
        },
        {
          signal: controller.signal,
          onNotification: ({ method, params }) => {
            if (method === "notifications/resources/updated") updates.push(params?.["uri"]);
          },
        },
      )
      .catch(() => {});
    const elsewhere = openSqliteStore(path);
    await open();
    expect(updates.splice(0)).toEqual(["incidents://INC-1", "incidents://open"]);
    await elsewhere.of("").open({ title: "Elsewhere", severity: "sev2" });
    await expect.poll(() => updates.splice(0)).toEqual(["incidents://INC-2", "incidents://open"]);
    await value("resolve_incident", { id: "INC-2", cause: "Known" });
    expect(updates.splice(0)).toEqual(["incidents://INC-2", "incidents://open"]);
    await value("resolve_incident", { id: "INC-2", cause: "Known" });
    await elsewhere.of("").resolve(1, "Known elsewhere");
    await expect.poll(() => updates.splice(0)).toEqual(["incidents://INC-1", "incidents://open"]);
    controller.abort(new Error("enough"));
    await ended;
    await open();
    expect(updates).toEqual([]);
    await elsewhere.close();
  });

  it("tell of what another store on the same file writes", async () => {
    const elsewhere = openSqliteStore(path);
    const heard = await listened(
      ["incidents://open", "incidents://INC-1"],
      () => elsewhere.of("").open({ title: "Elsewhere", severity: "sev2" }),
      2,
    );
    expect(heard).toEqual(["incidents://INC-1", "incidents://open"]);
    await elsewhere.close();
  });
});

describe("the postmortem prompt", () => {
  it("carries the record of the incident", async () => {
    await value("open_incident", { title: "Queue backed up", severity: "sev2", description: "all day" });
    const [asked] = (await client.getPrompt("postmortem", { id: "INC-1" })).messages;
    expect(asked?.role).toBe("user");
    const text = asked?.content.type === "text" ? asked.content.text : "";
    expect(text).toContain("blameless postmortem of incident INC-1");
    expect(text).toContain('"description": "all day"');
    expect(text).toContain("still open");
    await value("resolve_incident", { id: "INC-1", cause: "A consumer leaked memory" });
    const [again] = (await client.getPrompt("postmortem", { id: "inc-1" })).messages;
    const later = again?.content.type === "text" ? again.content.text : "";
    expect(later).toContain('"cause": "A consumer leaked memory"');
    expect(later).not.toContain("still open");
  });

  it("is refused for what is no incident", async () => {
    expect(await refusal(client.getPrompt("postmortem", { id: "INC-7" }))).toMatchObject({
      code: ErrorCode.InvalidParams,
      message: "No incident INC-7. Call search_incidents to find it.",
    });
    expect(await refusal(client.getPrompt("postmortem", { id: "seven" }))).toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringContaining('"seven" is no handle'),
    });
    expect(await refusal(client.getPrompt("postmortem"))).toMatchObject({ code: ErrorCode.InvalidParams });
  });

  it.each([
    [{ type: "ref/prompt", name: "postmortem" } as const],
    [{ type: "ref/resource", uri: "incidents://{id}" } as const],
  ])("and %j complete the handles of open incidents", async (ref) => {
    for (let at = 0; at < 12; at += 1) await open();
    await value("resolve_incident", { id: "INC-11", cause: "Known" });
    const complete = async (typed: string) =>
      (await client.complete(ref, { name: "id", value: typed })).completion.values;
    expect(await complete("INC-1")).toEqual(["INC-12", "INC-10", "INC-1"]);
    expect(await complete("inc-1")).toEqual(["INC-12", "INC-10", "INC-1"]);
    expect(await complete("12")).toEqual(["INC-12"]);
    expect(await complete("")).toHaveLength(11);
    expect(await complete("in")).toHaveLength(11);
    expect(await complete("INC-11")).toEqual([]);
    expect(await complete("%")).toEqual([]);
    expect(await complete("INC-1%")).toEqual([]);
  });

  it("completes a hundred at most, and says how many there are", async () => {
    for (let at = 0; at < 130; at += 1) await store.of("").open({ title: "Many", severity: "sev4" });
    const { completion } = await client.complete(
      { type: "ref/prompt", name: "postmortem" },
      { name: "id", value: "" },
    );
    expect(completion.values).toHaveLength(100);
    expect(completion).toMatchObject({ total: 130, hasMore: true });
  });
});
