/** What the client does in every scenario that needs no credentials, by the name of the scenario. */
import { connect } from "mica-mcp/client";

const me = { name: "everything", version: "1.0.0" };

/** Answers whatever a server may ask for. */
const answers = {
  onElicit: () => ({ action: "accept", content: {} }),
  onElicitUrl: () => ({ action: "decline" }),
  onSample: () => ({ role: "assistant", model: "none", content: { type: "text", text: "Paris" } }),
  roots: [{ uri: "file:///tmp" }],
};

export const calls = {
  async initialize(url) {
    await using client = await connect(url, me);
    await client.listTools();
  },

  async tools_call(url) {
    await using client = await connect(url, me);
    await client.listTools();
    await client.callTool("add_numbers", { a: 2, b: 3 });
  },

  async "sse-retry"(url) {
    await using client = await connect(url, me);
    await client.callTool("test_reconnection");
  },

  async "elicitation-sep1034-client-defaults"(url) {
    await using client = await connect(url, { ...me, ...answers, elicitDefaults: true });
    await client.callTool("test_client_elicitation_defaults");
  },

  async "request-metadata"(url) {
    await using client = await connect(url, { ...me, ...answers });
    await client.listTools();
  },

  async "http-standard-headers"(url) {
    await using client = await connect(url, me);
    const { tools } = await client.listTools();
    for (const { name } of tools) await client.callTool(name);
    const { resources } = await client.listResources();
    for (const { uri } of resources) await client.readResource(uri);
    const { prompts } = await client.listPrompts();
    for (const { name } of prompts) await client.getPrompt(name);
  },

  async "http-custom-headers"(url, { toolCalls }) {
    await using client = await connect(url, me);
    await client.listTools();
    for (const { name, arguments: args } of toolCalls) await client.callTool(name, args);
  },

  async "http-invalid-tool-headers"(url) {
    await using client = await connect(url, me);
    const { tools } = await client.listTools();
    for (const { name } of tools) await client.callTool(name, { region: "here" });
  },

  async "json-schema-ref-no-deref"(url) {
    await using client = await connect(url, me);
    await client.listTools();
  },

  async "json-schema-2020-12-preservation"(url) {
    await using client = await connect(url, me);
    const { tools } = await client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
    await client.callTool("json_schema_echo", { schema: inputSchema });
  },

  async "sep-2322-client-request-state"(url) {
    await using client = await connect(url, {
      ...me,
      async onElicit() {
        // Another call while this one waits for its answer.
        await client.callTool("test_mrtr_unrelated");
        return { action: "accept", content: { confirmed: true } };
      },
    });
    await client.listTools();
    await client.callTool("test_mrtr_echo_state");
    await client.callTool("test_mrtr_no_state");
    await client.callTool("test_mrtr_no_result_type");
  },
};
