/** What a client of each revision gets to see of a server that has everything. */
import { describe, expect, it } from "vitest";
import { everything, type LegacyClient, legacyClient } from "./everything.js";
import { PNG } from "./everything-server.js";
import { VERSIONS, type Version } from "./legacy-schema.js";

type Row = Record<Version, unknown>;

async function open(version: Version, capabilities = {}): Promise<LegacyClient> {
  const client = legacyClient(everything(), version);
  await client.initialize(capabilities);
  return client;
}

const kinds = (blocks: unknown): string[] => (blocks as { type: string }[]).map(({ type }) => type);

describe.each(VERSIONS)("%s", (version) => {
  it("is answered with itself, and with what the server can do in its words", async () => {
    const client = legacyClient(everything(), version);
    const result = await client.initialize();
    const identity: Row = {
      "2024-11-05": { name: "everything", version: "1.2.3" },
      "2025-03-26": { name: "everything", version: "1.2.3" },
      "2025-06-18": { name: "everything", version: "1.2.3", title: "Everything" },
      "2025-11-25": {
        name: "everything",
        version: "1.2.3",
        title: "Everything",
        description: "One of each",
        websiteUrl: "https://example.com",
        icons: expect.any(Array),
      },
    };
    expect(result).toEqual({
      protocolVersion: version,
      capabilities: {
        logging: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true },
        ...(version !== "2024-11-05" && { completions: {} }),
      },
      serverInfo: identity[version],
      instructions: "Ask for anything.",
    });
  });

  it("lists tools without what it does not know", async () => {
    const { tools } = await (await open(version)).result<{ tools: Record<string, unknown>[] }>("tools/list");
    const byName = new Map(tools.map((tool) => [tool["name"], tool]));
    const members: Row = {
      "2024-11-05": ["name", "description", "inputSchema"],
      "2025-03-26": ["name", "description", "inputSchema", "annotations"],
      "2025-06-18": ["name", "title", "description", "_meta", "inputSchema", "outputSchema", "annotations"],
      "2025-11-25": [
        "name",
        "title",
        "description",
        "icons",
        "_meta",
        "inputSchema",
        "outputSchema",
        "annotations",
      ],
    };
    expect(Object.keys(byName.get("add") ?? {}).sort()).toEqual([...(members[version] as string[])].sort());
    const hints: Row = {
      "2024-11-05": undefined,
      "2025-03-26": { title: "Addition", readOnlyHint: true },
      "2025-06-18": { readOnlyHint: true },
      "2025-11-25": { readOnlyHint: true },
    };
    expect(byName.get("add")?.["annotations"]).toEqual(hints[version]);
    // A schema of something else than an object would be refused by its clients.
    expect(byName.get("numbers")).not.toHaveProperty("outputSchema");
    expect(byName.get("loose")?.["inputSchema"]).toEqual({
      type: "object",
      properties: { anything: {}, nothing: { not: {} }, text: { type: "string" } },
    });
  });

  it("calls tools, and gets structured content where it is an object and the revision has it", async () => {
    const client = await open(version);
    const hasStructure = version >= "2025-06-18";
    expect(await client.result("tools/call", { name: "add", arguments: { a: 1, b: 2 } })).toEqual({
      content: [{ type: "text", text: '{"sum":3}' }],
      ...(hasStructure && { structuredContent: { sum: 3 } }),
    });
    expect(await client.result("tools/call", { name: "numbers" })).toEqual({
      content: [{ type: "text", text: "[1,2,3]" }],
    });
    expect(await client.result("tools/call", { name: "data_only" })).toEqual({
      content: [{ type: "text", text: "[4,5]" }],
    });
  });

  it("gets every kind of content, some of it in another form", async () => {
    const client = await open(version);
    const { content, _meta } = await client.result<{ content: Record<string, unknown>[]; _meta: unknown }>(
      "tools/call",
      { name: "mixed" },
    );
    const expected: Row = {
      "2024-11-05": ["text", "image", "resource", "text", "resource", "resource"],
      "2025-03-26": ["text", "image", "audio", "text", "resource", "resource"],
      "2025-06-18": ["text", "image", "audio", "resource_link", "resource", "resource"],
      "2025-11-25": ["text", "image", "audio", "resource_link", "resource", "resource"],
    };
    expect(kinds(content)).toEqual(expected[version]);
    expect(_meta).toEqual({ "example.com/note": "kept where there is room" });
    const isEarly = version < "2025-06-18";
    expect("_meta" in content[0]!).toBe(!isEarly);
    expect("lastModified" in (content[0]!["annotations"] as object)).toBe(!isEarly);
    if (version === "2024-11-05") {
      expect(content[2]).toEqual({
        type: "resource",
        resource: { uri: "content:audio", mimeType: "audio/wav", blob: "UklGRg==" },
        annotations: { audience: ["user"], priority: 0.5 },
      });
    }
    if (isEarly) {
      expect(content[3]).toEqual({
        type: "text",
        text: "Resource Note one (text/plain): The first\nnote://1",
      });
      expect(content[4]).toEqual({ type: "resource", resource: { uri: "note://1", text: "one" } });
    } else {
      expect("icons" in content[3]!).toBe(version === "2025-11-25");
    }
  });

  it("reads failures that the model should see, and nothing of those that it should not", async () => {
    const client = await open(version);
    expect(await client.result("tools/call", { name: "fail" })).toEqual({
      content: [{ type: "text", text: "It does not work today." }],
      isError: true,
    });
    const crashed = await client.result("tools/call", { name: "crash" });
    expect(crashed).toMatchObject({ isError: true });
    expect(JSON.stringify(crashed)).not.toContain("secret");
    expect(await client.result("tools/call", { name: "add", arguments: { a: "1" } })).toMatchObject({
      isError: true,
    });
  });

  it("lists and reads resources", async () => {
    const client = await open(version);
    const { resources } = await client.result<{ resources: Record<string, unknown>[] }>("resources/list");
    const isEarly = version < "2025-06-18";
    const later = ["title", "_meta", "icons"].filter((member) => member in resources[0]!);
    expect(later).toEqual(
      isEarly ? [] : version === "2025-06-18" ? ["title", "_meta"] : ["title", "_meta", "icons"],
    );
    expect(resources[0]).toMatchObject({ uri: "note://1", name: "one", mimeType: "text/plain", size: 3 });
    const { resourceTemplates } = await client.result<{ resourceTemplates: unknown[] }>(
      "resources/templates/list",
    );
    expect(resourceTemplates).toMatchObject([{ uriTemplate: "note://by-day/{day}", name: "day" }]);
    expect(await client.result("resources/read", { uri: "note://1" })).toEqual({
      contents: [
        {
          uri: "note://1",
          mimeType: "text/plain",
          text: "one",
          ...(!isEarly && { _meta: { "example.com/note": "kept where there is room" } }),
        },
      ],
    });
    expect(await client.result("resources/read", { uri: "note://blob" })).toMatchObject({
      contents: [{ blob: "AQID" }],
    });
    expect(await client.result("resources/read", { uri: "note://by-day/friday" })).toMatchObject({
      contents: [{ text: "notes of friday" }],
    });
  });

  it("lists and gets prompts", async () => {
    const client = await open(version);
    const { prompts } = await client.result<{ prompts: Record<string, unknown>[] }>("prompts/list");
    const isEarly = version < "2025-06-18";
    expect(prompts[0]).toMatchObject({ name: "review", arguments: [{ name: "code", required: true }] });
    expect("title" in prompts[0]!).toBe(!isEarly);
    expect("title" in (prompts[0]!["arguments"] as object[])[0]!).toBe(!isEarly);
    const { messages } = await client.result<{ messages: { content: { type: string } }[] }>("prompts/get", {
      name: "review",
      arguments: { code: "a" },
    });
    const expected: Row = {
      "2024-11-05": ["text", "resource", "text", "resource"],
      "2025-03-26": ["text", "audio", "text", "resource"],
      "2025-06-18": ["text", "audio", "resource_link", "resource"],
      "2025-11-25": ["text", "audio", "resource_link", "resource"],
    };
    expect(messages.map(({ content }) => content.type)).toEqual(expected[version]);
  });

  it("completes arguments", async () => {
    const client = await open(version);
    expect(
      await client.result("completion/complete", {
        ref: { type: "ref/prompt", name: "review" },
        argument: { name: "code", value: "f" },
      }),
    ).toEqual({ completion: { values: ["f()"], total: 1, hasMore: false } });
    expect(
      await client.result("completion/complete", {
        ref: { type: "ref/resource", uri: "note://by-day/{day}" },
        argument: { name: "day", value: "mon" },
      }),
    ).toMatchObject({ completion: { values: ["monday"] } });
  });

  it("is told errors under the codes that it has", async () => {
    const client = await open(version);
    expect(await client.error("resources/read", { uri: "note://none" })).toEqual({
      code: -32002,
      message: "Resource not found: note://none",
      data: { uri: "note://none" },
    });
    expect(await client.error("resources/read", { uri: "note://by-day/never" })).toMatchObject({
      code: -32002,
    });
    expect(await client.error("resources/read", {})).toMatchObject({ code: -32602 });
    expect(await client.error("tools/call", { name: "nope" })).toMatchObject({ code: -32602 });
    expect(await client.error("prompts/get", { name: "nope" })).toMatchObject({ code: -32602 });
    expect(await client.error("tools/list", { cursor: "nope" })).toMatchObject({ code: -32602 });
    expect(await client.error("made/up")).toMatchObject({ code: -32601 });
    // Methods of the current revision are none of this one.
    expect(await client.error("server/discover")).toMatchObject({ code: -32601 });
    expect(await client.error("subscriptions/listen", { notifications: {} })).toMatchObject({ code: -32601 });
    // A question that the client cannot be asked: -32021 would say that the server is a modern one.
    const missing = await client.error("tools/call", { name: "where" });
    expect(missing).toMatchObject({ code: -32603, message: expect.stringContaining("roots") });
  });

  it("reports progress and logs", async () => {
    const client = await open(version);
    const call = { name: "count", arguments: { to: 2 }, _meta: { progressToken: 0 } };
    await client.result("tools/call", call);
    const message = (step: number) => version !== "2024-11-05" && { message: `step ${step}` };
    expect(client.of("notifications/progress").map(({ params }) => params)).toEqual([
      { progressToken: 0, progress: 1, total: 2, ...message(1) },
      { progressToken: 0, progress: 2, total: 2, ...message(2) },
    ]);
    expect(client.of("notifications/message").map(({ params }) => params)).toEqual([
      { level: "info", logger: "counter", data: { counted: 2 } },
    ]);
    expect(await client.result("logging/setLevel", { level: "debug" })).toEqual({});
    await client.result("tools/call", { name: "count", arguments: { to: 1 } });
    expect(client.of("notifications/message")).toHaveLength(3);
    expect(await client.result("logging/setLevel", { level: "error" })).toEqual({});
    await client.result("tools/call", { name: "count", arguments: { to: 1 } });
    expect(client.of("notifications/message")).toHaveLength(3);
    expect(await client.error("logging/setLevel", { level: "loud" })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('got "loud"'),
    });
  });

  it("carries pictures byte for byte", async () => {
    const { content } = await (await open(version)).result<{ content: unknown[] }>("tools/call", {
      name: "mixed",
    });
    expect(content[1]).toMatchObject({ type: "image", data: PNG, mimeType: "image/png" });
  });
});
