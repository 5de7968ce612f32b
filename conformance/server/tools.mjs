/** Tools that answer without asking: every kind of content, failures, progress, log messages, changes of lists. */
import { setTimeout as sleep } from "node:timers/promises";
import { audio, content, embedded, image, ToolError } from "mica-mcp";
import { z } from "zod";
import { PNG, WAV } from "./samples.mjs";

export function defineTools(server) {
  server.tool(
    "test_simple_text",
    { description: "Answers with text." },
    () => "This is a simple text response for testing.",
  );

  server.tool("test_image_content", { description: "Answers with an image." }, () =>
    content([image(PNG, "image/png")]),
  );

  server.tool("test_audio_content", { description: "Answers with audio." }, () =>
    content([audio(WAV, "audio/wav")]),
  );

  server.tool("test_embedded_resource", { description: "Answers with a resource." }, () =>
    content([
      embedded({
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      }),
    ]),
  );

  server.tool("test_multiple_content_types", { description: "Answers with text, image and resource." }, () =>
    content([
      "Multiple content types test:",
      image(PNG, "image/png"),
      embedded({
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: JSON.stringify({ test: "data", value: 123 }),
      }),
    ]),
  );

  server.tool("test_error_handling", { description: "Always fails." }, () => {
    throw new ToolError("This tool intentionally returns an error for testing");
  });

  server.tool("test_tool_with_progress", { description: "Reports progress." }, async (_args, ctx) => {
    for (const done of [0, 50, 100]) {
      ctx.progress(done, 100, `${done} of 100`);
      await sleep(20);
    }
    return "Tool with progress executed successfully";
  });

  server.tool("test_tool_with_logging", { description: "Sends log messages." }, async (_args, ctx) => {
    for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      ctx.log("info", message);
      await sleep(20);
    }
    return "Tool with logging executed successfully";
  });

  server.tool("test_logging_tool", { description: "Sends a log message." }, (_args, ctx) => {
    ctx.log("info", "A message for whoever asked for it");
    return "Logged";
  });

  server.tool("test_trigger_tool_change", { description: "Changes the list of tools." }, () => {
    server.tool("test_added_tool", { description: "Here for a moment." }, () => "").remove();
    return "The list of tools has changed";
  });

  server.tool("test_trigger_prompt_change", { description: "Changes the list of prompts." }, () => {
    server.prompt("test_added_prompt", { description: "Here for a moment." }, () => "").remove();
    return "The list of prompts has changed";
  });

  server.tool(
    "test_mirrored_header",
    {
      description: "Mirrors an argument into a header.",
      input: z.object({
        region: z.string().meta({ "x-mcp-header": "Region" }),
        query: z.string().optional(),
      }),
    },
    ({ region }) => `Region ${region}`,
  );

  server.tool(
    "json_schema_2020_12_tool",
    { description: "Takes what only JSON Schema 2020-12 can say.", input: contactSchema },
    (args) => args,
  );
}

const contactSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
