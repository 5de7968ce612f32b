/**
 * Every example of the specification, read by whatever of Mica reads such a thing: messages are decoded and served,
 * results judged by the client, fragments sent through a server, and all of them checked against the schema.
 */
import { describe, expect, it } from "vitest";
import { answererFor, type InputHandlers } from "../../src/client/input-handlers.js";
import { checkShape, resultType } from "../../src/client/result.js";
import { content } from "../../src/protocol/content.js";
import type {
  CallToolResult,
  ContentBlock,
  JsonSchema,
  ListResourcesResult,
  ListToolsResult,
  ReadResourceResult,
  Resource,
  ResourceContents,
  Tool,
} from "../../src/protocol/features.js";
import type { CreateMessageParams, SamplingMessage } from "../../src/protocol/input-requests.js";
import {
  decodeMessage,
  isErrorResponse,
  isNotification,
  isRequest,
  isResponse,
} from "../../src/protocol/jsonrpc.js";
import { readRequestMeta } from "../../src/protocol/meta.js";
import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  Result,
} from "../../src/protocol/types.js";
import { toElicitationSchema } from "../../src/schema/elicitation.js";
import { type AnyQuestion, prepare, readAnswer } from "../../src/server/questions.js";
import { contents } from "../../src/server/resource-contents.js";
import { createServer, type Server } from "../../src/server/server.js";
import { memoryTransport } from "../../src/testing/memory.js";
import { callerOf } from "../support/caller.js";
import {
  assertValid,
  assertValidRequest,
  checkedServer,
  definitions,
  readExamples,
} from "../support/wire-schema.js";

const examples = readExamples();

/** What the examples of one definition must go through. */
type Reading = (value: never, text: string) => void | Promise<void>;

/** A server that has what the examples ask for. */
function exampleServer(): Server {
  const server = checkedServer(createServer({ name: "ExampleServer", version: "1.0.0" }));
  const input = (name: string): JsonSchema => ({
    type: "object",
    properties: { [name]: { type: "string" } },
  });
  server.tool("get_weather", { input: input("location") }, ({ location }) => `Sunny in ${location}`);
  server.tool("build_simulation", { input: input("city") }, ({ city }, ctx) => {
    ctx.progress(50, 100, "Reticulating splines...");
    return `Built ${city}`;
  });
  server.resource("file:///project/src/main.rs", { name: "main.rs" }, () => "fn main() {}");
  server.resource("file:///project/config.json", { name: "config" }, () => ({ debug: true }));
  server.resourceTemplate("file:///{path}", { name: "file" }, ({ path }) => path);
  server.prompt(
    "code_review",
    {
      input: {
        type: "object",
        properties: { code: { type: "string" }, language: { type: "string" }, framework: { type: "string" } },
      },
      complete: {
        language: ["python", "ruby"],
        framework: (value, ctx) => (ctx.arguments["language"] === "python" ? [`${value}sk`] : []),
      },
    },
    ({ code }) => `Please review:\n${code}`,
  );
  return server;
}

const request =
  (check: (result: Result, notifications: JSONRPCNotification[]) => void): Reading =>
  async (_, text) => {
    const message = decodeMessage(text);
    expect(isRequest(message)).toBe(true);
    const { params } = message as JSONRPCRequest;
    assertValidRequest(message as JSONRPCRequest);
    expect(readRequestMeta(params).clientInfo).toEqual({ name: "ExampleClient", version: "1.0.0" });
    const notifications: JSONRPCNotification[] = [];
    const response = await memoryTransport(exampleServer()).exchange(message as JSONRPCRequest, {
      onNotification: (notification) => notifications.push(notification),
    });
    expect(response.id).toBe((message as JSONRPCRequest).id);
    check((response as { result: Result }).result, notifications);
  };

const params =
  (method: string, check: (result: Result, notifications: JSONRPCNotification[]) => void): Reading =>
  (_, text) =>
    request(check)(
      undefined as never,
      `{"jsonrpc":"2.0","id":"example","method":"${method}","params":${text}}`,
    );

const listRequest = (method: string, list: string): Reading =>
  request((result) => {
    expect(() => checkShape(method, result)).not.toThrow();
    expect(result[list]).not.toEqual([]);
  });

const notification: Reading = (_, text) => expect(isNotification(decodeMessage(text))).toBe(true);

const notificationParams =
  (method: string): Reading =>
  (_, text) =>
    expect(isNotification(decodeMessage(`{"jsonrpc":"2.0","method":"${method}","params":${text}}`))).toBe(
      true,
    );

const result =
  (method: string, type = "complete"): Reading =>
  (value: Result) => {
    expect(resultType(method, value)).toBe(type);
    if (type === "complete") checkShape(method, value);
  };

const resultResponse =
  (method: string): Reading =>
  (_, text) => {
    const message = decodeMessage(text);
    expect(isResponse(message)).toBe(true);
    result(method)((message as { result: Result }).result as never, "");
  };

const errorResponse: Reading = (_, text) => {
  const message = decodeMessage(text);
  expect(isResponse(message) && isErrorResponse(message as JSONRPCResponse)).toBe(true);
};

const error: Reading = (_, text) =>
  errorResponse(undefined as never, `{"jsonrpc":"2.0","id":1,"error":${text}}`);

/** Out of a tool, over the wire, unchanged. */
const block: Reading = async (value: ContentBlock) => {
  const server = exampleServer();
  server.tool("show", {}, () => content([value]));
  const { content: blocks } = await callerOf(server).result<CallToolResult>("tools/call", { name: "show" });
  expect(blocks).toEqual([value]);
};

const resourceContents: Reading = async (value: ResourceContents) => {
  const server = exampleServer();
  server.resource("example:contents", { name: "contents" }, () => contents(value));
  const read = await callerOf(server).result<ReadResourceResult>("resources/read", {
    uri: "example:contents",
  });
  expect(read.contents).toEqual([value]);
};

/** Asked for in a form, exactly as it stands. */
const field: Reading = (value: JsonSchema) => {
  const form = toElicitationSchema({ type: "object", properties: { color: value } }, "example");
  expect(form).toEqual({ type: "object", properties: { color: value } });
};

const handlers: InputHandlers = {
  onElicit: () => ({ action: "decline" }),
  onElicitUrl: () => ({ action: "decline" }),
  onSample: () => ({ role: "assistant", content: { type: "text", text: "Paris" }, model: "m" }),
  sampling: { tools: true, context: true },
  roots: [{ uri: "file:///home" }],
};

/** Asked by a server's handler, and answered by a client's. */
async function inputRequest(
  value: { method: string; params?: unknown },
  question?: AnyQuestion,
): Promise<void> {
  if (question !== undefined) {
    const prepared = prepare("example", question).request;
    expect(prepared).toEqual({
      method: value.method,
      ...(value.params !== undefined && { params: value.params }),
    });
  }
  const answerer = answererFor(handlers, "example", value);
  const { signal } = new AbortController();
  const answer = await answerer.answer({
    key: "example",
    requests: { example: value },
    method: "tools/call",
    params: {},
    server: undefined,
    signal,
  });
  assertValid("InputResponse", answer);
}

const form = (value: { message: string; requestedSchema: JsonSchema }): Promise<void> =>
  inputRequest(
    { method: "elicitation/create", params: { mode: "form", ...value } },
    { elicit: { message: value.message, schema: value.requestedSchema } },
  );

const sample = (value: CreateMessageParams): Promise<void> =>
  inputRequest({ method: "sampling/createMessage", params: value }, { sample: value });

async function inputResponse(question: AnyQuestion, value: unknown): Promise<void> {
  const read = await readAnswer(prepare("example", question), value);
  expect(read.problem).toBeUndefined();
}

const anyForm: AnyQuestion = {
  elicit: {
    message: "?",
    schema: {
      type: "object",
      properties: { name: { type: "string" }, email: { type: "string" }, age: { type: "number" } },
      required: ["name"],
    },
  },
};
const anySample: AnyQuestion = { sample: { messages: [], maxTokens: 1 } };

const READINGS: Record<string, Reading> = {
  // Requests, served
  DiscoverRequest: request((value) => expect(value["supportedVersions"]).toEqual(["2026-07-28"])),
  ListToolsRequest: listRequest("tools/list", "tools"),
  ListResourcesRequest: listRequest("resources/list", "resources"),
  ListResourceTemplatesRequest: listRequest("resources/templates/list", "resourceTemplates"),
  ListPromptsRequest: listRequest("prompts/list", "prompts"),
  CallToolRequest: request((value) =>
    expect(value["content"]).toEqual([{ type: "text", text: "Sunny in New York" }]),
  ),
  CallToolRequestParams: params("tools/call", (value, notifications) => {
    const [{ text }] = value["content"] as [{ text: string }];
    if (text === "Sunny in New York") return expect(notifications).toEqual([]);
    expect(text).toBe("Built Micropolis");
    expect(notifications[0]?.params).toMatchObject({ progressToken: "oivaizmir", progress: 50, total: 100 });
  }),
  ReadResourceRequest: request((value) =>
    expect(value["contents"]).toMatchObject([{ text: "fn main() {}" }]),
  ),
  GetPromptRequest: request((value) => expect(value["messages"]).toHaveLength(1)),
  GetPromptRequestParams: params("prompts/get", (value) => expect(value["messages"]).toHaveLength(1)),
  CompleteRequest: request((value) => expect(value["completion"]).toMatchObject({ values: ["python"] })),
  CompleteRequestParams: params("completion/complete", (value) =>
    expect(["python", "flask"]).toContain((value["completion"] as { values: string[] }).values[0]),
  ),
  PaginatedRequestParams: async (_, text) => {
    const message = decodeMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${text}}`);
    const response = await memoryTransport(exampleServer()).exchange(message as JSONRPCRequest);
    // A cursor that this server did not hand out.
    expect(response).toMatchObject({ error: { code: -32602 } });
  },
  SubscriptionsListenRequest: async (value: JSONRPCRequest, text) => {
    const server = exampleServer();
    const notifications: JSONRPCNotification[] = [];
    const ended = memoryTransport(server).exchange(decodeMessage(text) as JSONRPCRequest, {
      onNotification: (got) => notifications.push(got),
    });
    const acknowledged = examples.find(({ file }) => file === "listen-acknowledged.json");
    expect(notifications).toEqual([JSON.parse(acknowledged!.text)]);
    server.endSubscriptions();
    const closed = examples.find(({ file }) => file === "listen-closed-response.json");
    expect(await ended).toMatchObject(JSON.parse(closed!.text) as object);
    expect(value.method).toBe("subscriptions/listen");
  },
  // Results, as the client judges them
  DiscoverResult: result("server/discover"),
  ListToolsResult: result("tools/list"),
  ListResourcesResult: result("resources/list"),
  ListResourceTemplatesResult: result("resources/templates/list"),
  ListPromptsResult: result("prompts/list"),
  CallToolResult: result("tools/call"),
  ReadResourceResult: result("resources/read"),
  GetPromptResult: result("prompts/get"),
  CompleteResult: result("completion/complete"),
  SubscriptionsListenResult: result("subscriptions/listen"),
  InputRequiredResult: result("tools/call", "input_required"),
  DiscoverResultResponse: resultResponse("server/discover"),
  ListToolsResultResponse: resultResponse("tools/list"),
  ListResourcesResultResponse: resultResponse("resources/list"),
  ListResourceTemplatesResultResponse: resultResponse("resources/templates/list"),
  ListPromptsResultResponse: resultResponse("prompts/list"),
  CallToolResultResponse: resultResponse("tools/call"),
  ReadResourceResultResponse: resultResponse("resources/read"),
  GetPromptResultResponse: resultResponse("prompts/get"),
  CompleteResultResponse: resultResponse("completion/complete"),
  SubscriptionsListenResultResponse: resultResponse("subscriptions/listen"),
  // Errors
  HeaderMismatchError: errorResponse,
  MissingRequiredClientCapabilityError: errorResponse,
  UnsupportedProtocolVersionError: errorResponse,
  InternalError: error,
  InvalidParamsError: error,
  MethodNotFoundError: error,
  ParseError: error,
  // Notifications
  CancelledNotification: notification,
  LoggingMessageNotification: notification,
  ProgressNotification: notification,
  PromptListChangedNotification: notification,
  ResourceListChangedNotification: notification,
  ResourceUpdatedNotification: notification,
  SubscriptionsAcknowledgedNotification: notification,
  ToolListChangedNotification: notification,
  CancelledNotificationParams: notificationParams("notifications/cancelled"),
  LoggingMessageNotificationParams: notificationParams("notifications/message"),
  ProgressNotificationParams: notificationParams("notifications/progress"),
  ResourceUpdatedNotificationParams: notificationParams("notifications/resources/updated"),
  // What servers hold and send
  AudioContent: block,
  EmbeddedResource: block,
  ImageContent: block,
  ResourceLink: block,
  TextContent: block,
  BlobResourceContents: resourceContents,
  TextResourceContents: resourceContents,
  Resource: async ({ uri, ...definition }: Resource) => {
    const server = exampleServer();
    server.resource(uri, definition, () => "");
    const { resources } = await callerOf(server).result<ListResourcesResult>("resources/list");
    expect(resources.at(-1)).toEqual({ uri, ...definition });
  },
  Tool: async (value: Tool) => {
    const server = exampleServer();
    const { name, title, description, inputSchema, outputSchema } = value;
    server.tool(
      name,
      {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        input: inputSchema,
        ...(outputSchema !== undefined && { output: outputSchema }),
      },
      () => ({}),
    );
    const { tools } = await callerOf(server).result<ListToolsResult>("tools/list");
    expect(tools.at(-1)).toEqual(value);
  },
  ServerCapabilities: (value: object) =>
    checkShape("server/discover", { supportedVersions: ["2026-07-28"], capabilities: value }),
  ClientCapabilities: async (value: object) => {
    const meta = { "io.modelcontextprotocol/clientCapabilities": value };
    const server = exampleServer();
    server.tool("capabilities", {}, (_, ctx) => ctx.client.capabilities);
    const called = await callerOf(server).result<CallToolResult>(
      "tools/call",
      { name: "capabilities" },
      { meta },
    );
    expect(called.content).toEqual([{ type: "text", text: JSON.stringify(value) }]);
  },
  // Input requests and responses
  ElicitRequest: (value: { method: string; params: { message: string; requestedSchema: JsonSchema } }) =>
    form(value.params),
  ElicitRequestFormParams: form,
  ElicitRequestURLParams: (value: { message: string; url: string }) =>
    inputRequest(
      { method: "elicitation/create", params: value },
      { elicitUrl: { message: value.message, url: value.url } },
    ),
  CreateMessageRequest: (value: { params: CreateMessageParams }) => sample(value.params),
  CreateMessageRequestParams: sample,
  ListRootsRequest: ({ method }: { method: string }) => inputRequest({ method }, { roots: true }),
  InputRequests: async (value: Record<string, { method: string; params?: unknown }>) => {
    for (const one of Object.values(value)) await inputRequest(one);
  },
  SamplingMessage: (value: SamplingMessage) => sample({ messages: [value], maxTokens: 1 }),
  ToolUseContent: (value: never) =>
    sample({ messages: [{ role: "assistant", content: value }], maxTokens: 1 }),
  ToolResultContent: (value: never) =>
    sample({ messages: [{ role: "user", content: [value] }], maxTokens: 1 }),
  ModelPreferences: (value: never) => sample({ messages: [], maxTokens: 1, modelPreferences: value }),
  ElicitResult: (value: { content?: unknown }) =>
    inputResponse(
      value.content === undefined ? { elicitUrl: { message: "?", url: "https://x.test" } } : anyForm,
      value,
    ),
  CreateMessageResult: (value: unknown) => inputResponse(anySample, value),
  ListRootsResult: (value: unknown) => inputResponse({ roots: true }, value),
  Root: (value: unknown) => inputResponse({ roots: true }, { roots: [value] }),
  InputResponses: async (value: { github_login: unknown; capital_of_france: unknown }) => {
    await inputResponse(anyForm, value.github_login);
    await inputResponse(anySample, value.capital_of_france);
  },
  BooleanSchema: field,
  NumberSchema: field,
  StringSchema: field,
  TitledMultiSelectEnumSchema: field,
  TitledSingleSelectEnumSchema: field,
  UntitledMultiSelectEnumSchema: field,
  UntitledSingleSelectEnumSchema: field,
};

describe("examples of the specification", () => {
  const handled = new Set<string>();

  it.each(examples.map((example) => [`${example.definition}/${example.file}`, example] as const))(
    "reads %s",
    async (name, { definition, text }) => {
      expect(definitions).toContain(definition);
      const value = JSON.parse(text) as never;
      assertValid(definition, value);
      const read = Object.hasOwn(READINGS, definition) ? READINGS[definition] : undefined;
      if (read === undefined) throw new Error(`nothing reads a ${definition}`);
      await read(value, text);
      handled.add(name);
    },
  );

  it("leaves none out", () => {
    expect(examples.length).toBe(129);
    expect(handled.size).toBe(examples.length);
    expect(Object.keys(READINGS).sort()).toEqual(
      [...new Set(examples.map(({ definition }) => definition))].sort(),
    );
  });
});
