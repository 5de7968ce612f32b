/** The clients of the matrix, each driven through the same acts: what came of each is a word. */
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { connect } from "../../src/entry/client.js";

export type Target = { readonly url: string } | { readonly command: string; readonly args: string[] };

/** One connection, as the acts see it. */
export interface Driver {
  /** Names of the tools. */
  list(): Promise<string[]>;
  /** Text of a tool's result. */
  call(name: string, args?: Record<string, unknown>): Promise<string>;
  read(uri: string): Promise<unknown>;
  prompt(name: string, args: Record<string, string>): Promise<unknown>;
  complete(prompt: string, argument: { name: string; value: string }): Promise<string[]>;
  /** Resolves once updates of the resource are reported to `onUpdate`. */
  watch(uri: string, onUpdate: () => void): Promise<void>;
  close(): Promise<void>;
}

const INFO = { name: "matrix", version: "1.0.0" };
const ANSWER = { action: "accept" as const, content: { yes: true } };
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]!.text;

async function mica(era: "modern" | "legacy", target: Target): Promise<Driver> {
  const client = await connect(target, { ...INFO, era, onElicit: async () => ANSWER });
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => textOf(await client.callTool(name, args)),
    read: async (uri) => (await client.readResource(uri)).contents,
    prompt: async (name, args) => (await client.getPrompt(name, args)).messages,
    complete: async (name, argument) =>
      (await client.complete({ type: "ref/prompt", name }, argument)).completion.values,
    async watch(uri, onUpdate) {
      const subscription = client.listen({ resourceSubscriptions: [uri] });
      const agreed = await subscription.acknowledged;
      if (!agreed.resourceSubscriptions?.includes(uri)) throw new Error("not agreed");
      void (async () => {
        for await (const event of subscription) if (event.type === "resourceUpdated") onUpdate();
      })();
    },
    close: () => client.close(),
  };
}

/** What both official clients have in common. */
interface Official {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  readResource(params: { uri: string }): Promise<{ contents: unknown }>;
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<{ messages: unknown }>;
  complete(params: {
    ref: { type: "ref/prompt"; name: string };
    argument: { name: string; value: string };
  }): Promise<{ completion: { values: string[] } }>;
  close(): Promise<void>;
}

function official(client: Official, watch: Driver["watch"]): Driver {
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages,
    complete: async (name, argument) =>
      (await client.complete({ ref: { type: "ref/prompt", name }, argument })).completion.values,
    watch,
    close: () => client.close(),
  };
}

async function official2(era: "modern" | "legacy", target: Target): Promise<Driver> {
  const client = new Client2(INFO, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
  });
  client.setRequestHandler("elicitation/create", () => ANSWER);
  await client.connect("url" in target ? new Http2(new URL(target.url)) : new Stdio2(target));
  return official(client as unknown as Official, async (uri, onUpdate) => {
    client.setNotificationHandler("notifications/resources/updated", onUpdate);
    if (era === "legacy") await client.subscribeResource({ uri });
    else if (
      !(await client.listen({ resourceSubscriptions: [uri] })).honoredFilter.resourceSubscriptions?.includes(
        uri,
      )
    ) {
      throw new Error("not agreed");
    }
  });
}

async function official1(target: Target): Promise<Driver> {
  const client = new Client1(INFO, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ANSWER);
  const transport = "url" in target ? new Http1(new URL(target.url)) : new Stdio1(target);
  // Declared without exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return official(client as unknown as Official, async (uri, onUpdate) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, onUpdate);
    await client.subscribeResource({ uri });
  });
}

/** By name: how each connects, and the era it speaks. */
export const CLIENTS = {
  "Mica, modern": { era: "modern", open: (target: Target) => mica("modern", target) },
  "Mica, legacy": { era: "legacy", open: (target: Target) => mica("legacy", target) },
  "official 2.4, modern": { era: "modern", open: (target: Target) => official2("modern", target) },
  "official 2.4, legacy": { era: "legacy", open: (target: Target) => official2("legacy", target) },
  "official 1.32": { era: "legacy", open: official1 },
} as const;
