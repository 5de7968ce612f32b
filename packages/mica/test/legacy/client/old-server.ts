/** A server of an earlier revision that is a table of functions, and a client of it, in memory. */
import { expect, onTestFinished } from "vitest";
import { type Client, createClient } from "../../../src/client/client.js";
import type { Fallback } from "../../../src/client/fallback.js";
import type { ClientOptions } from "../../../src/client/options.js";
import type { ClientWarning } from "../../../src/client/warnings.js";
import { type LegacyTransportOptions, legacyTransport } from "../../../src/legacy/client/transport.js";
import type { LegacyWire, WireReceiver } from "../../../src/legacy/client/wire.js";
import { McpError, ProtocolError } from "../../../src/protocol/errors.js";
import type { ErrorObject, JSONRPCMessage, RequestId } from "../../../src/protocol/types.js";
import { assertValid, type Version } from "../legacy-schema.js";

export type Message = Record<string, unknown> & {
  id?: RequestId;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: ErrorObject;
};

export interface Scene {
  readonly id: RequestId;
  /** Aborts when the client cancels the request. */
  readonly signal: AbortSignal;
  notify(method: string, params?: Record<string, unknown>): void;
  /** Sends a request to the client; resolves to its response. */
  ask(method: string, params?: Record<string, unknown>): Promise<Message>;
}

/** Returns a result, throws a ProtocolError for an error. */
export type Act = (params: Record<string, unknown>, scene: Scene) => unknown;

export interface OldServer {
  /** Opens another wire, which is another session. */
  openWire(): Promise<LegacyWire>;
  /** Everything that the clients have sent, each checked against the schema of the revision. */
  readonly received: Message[];
  /** The requests and notifications of one method. */
  of(method: string): Message[];
  /** The methods of all requests and notifications, in order. */
  readonly methods: string[];
  /** Sends something of its own accord on the latest wire. */
  notify(method: string, params?: Record<string, unknown>): void;
  ask(method: string, params?: Record<string, unknown>): Promise<Message>;
  /** Sends a text as it is; says whether it belonged to anything. */
  message(message: Record<string, unknown>): boolean;
  /** The latest wire breaks. */
  breakOff(): void;
  readonly wires: number;
  /** Wires that have not been closed. */
  readonly open: number;
}

const REQUESTS: Record<string, string> = {
  initialize: "InitializeRequest",
  ping: "PingRequest",
  "logging/setLevel": "SetLevelRequest",
  "resources/subscribe": "SubscribeRequest",
  "resources/unsubscribe": "UnsubscribeRequest",
  "tools/list": "ListToolsRequest",
  "tools/call": "CallToolRequest",
  "resources/list": "ListResourcesRequest",
  "resources/templates/list": "ListResourceTemplatesRequest",
  "resources/read": "ReadResourceRequest",
  "prompts/list": "ListPromptsRequest",
  "prompts/get": "GetPromptRequest",
  "completion/complete": "CompleteRequest",
  "notifications/initialized": "InitializedNotification",
  "notifications/cancelled": "CancelledNotification",
};
const ANSWERS: Record<string, string> = {
  ping: "EmptyResult",
  "elicitation/create": "ElicitResult",
  "sampling/createMessage": "CreateMessageResult",
  "roots/list": "ListRootsResult",
};

export const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
};

export interface OldServerOptions {
  /** Members of the result of `initialize`. */
  initialized?: Record<string, unknown>;
  /** Methods that the schema does not know. */
  unchecked?: readonly string[];
}

export function oldServer(
  version: Version,
  acts: Record<string, Act> = {},
  { initialized = {}, unchecked = [] }: OldServerOptions = {},
): OldServer {
  const script: Record<string, Act> = {
    initialize: () => ({
      protocolVersion: version,
      capabilities: CAPABILITIES,
      serverInfo: { name: "old", version: "0.9.0" },
      instructions: "Be gentle.",
      ...initialized,
    }),
    ping: () => ({}),
    "logging/setLevel": () => ({}),
    "resources/subscribe": () => ({}),
    "resources/unsubscribe": () => ({}),
    ...acts,
  };
  const received: Message[] = [];
  const faults: unknown[] = [];
  let wires = 0;
  let open = 0;
  let latest: { receiver(): WireReceiver | undefined; scene: Omit<Scene, "id" | "signal"> } | undefined;
  onTestFinished(() => {
    if (faults.length > 0) throw faults[0];
  });

  function check(message: Message, asked: string | undefined): void {
    const { method } = message;
    if (method !== undefined && unchecked.includes(method)) return;
    const definition = method === undefined ? ANSWERS[asked ?? ""] : REQUESTS[method];
    try {
      if ("error" in message) return;
      if (definition === undefined) throw new Error(`a client does not send ${JSON.stringify(message)}`);
      assertValid(version, definition, method === undefined ? message.result : message);
      const params = JSON.stringify(message.params ?? {});
      if (params.includes("io.modelcontextprotocol/")) throw new Error(`left over: ${params}`);
    } catch (error) {
      faults.push(error);
    }
  }

  async function openWire(): Promise<LegacyWire> {
    wires++;
    open++;
    let receiver: WireReceiver | undefined;
    let isOpen = true;
    let lastId = 0;
    const running = new Map<RequestId, AbortController>();
    const asked = new Map<RequestId, { method: string; resolve: (response: Message) => void }>();
    const send = (message: Message) =>
      receiver?.message(JSON.parse(JSON.stringify({ jsonrpc: "2.0", ...message })) as JSONRPCMessage);
    const scene = {
      notify: (method: string, params?: Record<string, unknown>) =>
        void send({ method, ...(params && { params }) }),
      ask: (method: string, params?: Record<string, unknown>) =>
        new Promise<Message>((resolve) => {
          const id = `s${++lastId}`;
          asked.set(id, { method, resolve });
          send({ id, method, ...(params && { params }) });
        }),
    };
    latest = { receiver: () => receiver, scene };

    async function serve(message: Message): Promise<void> {
      const { id, method = "", params = {} } = message as Message & { id: RequestId };
      const controller = new AbortController();
      running.set(id, controller);
      try {
        const act = script[method];
        if (!act) throw new ProtocolError(-32601, `Method not found: ${method}`);
        const result = (await act(params, { ...scene, id, signal: controller.signal })) as Message["result"];
        if (!controller.signal.aborted) send({ id, result: result as Record<string, unknown> });
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        if (!controller.signal.aborted) send({ id, error: error.toErrorObject() });
      } finally {
        running.delete(id);
      }
    }

    return {
      receive(by) {
        receiver = by;
      },
      async send(sent) {
        const message = JSON.parse(JSON.stringify(sent)) as Message;
        received.push(message);
        const question = message.method === undefined ? asked.get(message.id as RequestId) : undefined;
        check(message, question?.method);
        question?.resolve(message);
        if (message.method === "notifications/cancelled") {
          running.get(message.params?.["requestId"] as RequestId)?.abort();
        } else if (message.method !== undefined && message.id !== undefined) void serve(message);
      },
      async close() {
        if (isOpen) open--;
        isOpen = false;
        receiver = undefined;
      },
    };
  }

  return {
    openWire,
    received,
    of: (method) => received.filter((message) => message.method === method),
    get methods() {
      return received.flatMap(({ method }) => (method === undefined ? [] : [method]));
    },
    notify: (method, params) => latest?.scene.notify(method, params),
    ask: (method, params) => latest?.scene.ask(method, params) as Promise<Message>,
    message: (message) =>
      latest?.receiver()?.message({ jsonrpc: "2.0", ...message } as unknown as JSONRPCMessage) ?? false,
    breakOff() {
      open--;
      latest
        ?.receiver()
        ?.closed(({ method }) => new McpError("connection_lost", `broke off before ${method}`));
    },
    get wires() {
      return wires;
    },
    get open() {
      return open;
    },
  };
}

export interface OldClient {
  readonly client: Client;
  readonly warnings: ClientWarning[];
}

/** A client that speaks to it as to any other server, closed at the end of the test. */
export async function clientOf(
  server: OldServer,
  options: Partial<ClientOptions> = {},
  more: Partial<LegacyTransportOptions> = {},
): Promise<OldClient> {
  const warnings: ClientWarning[] = [];
  const fallback: Fallback = {
    key: "memory",
    isProcess: false,
    open: (greeting, signal) => legacyTransport(server.openWire, { ...greeting, signal, ...more }),
  };
  const unused = {
    mirrorsArguments: true,
    exchange: () => expect.unreachable("the probe is not to be sent"),
    close: async () => {},
  };
  const client = await createClient(
    unused,
    {
      name: "test",
      version: "1.0.0",
      era: "legacy",
      onWarning: (warning) => warnings.push(warning),
      ...options,
    },
    fallback,
  );
  onTestFinished(() => client.close());
  return { client, warnings };
}

/** The text of a tool result. */
export function textOf(result: { content: unknown }): string {
  const [block] = result.content as { text?: string }[];
  return block?.text ?? "";
}

export const text = (value: unknown) => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});
