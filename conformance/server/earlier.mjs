/** Tools that scenarios of 2025-11-25 call: the questions reach those clients as requests of the server. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { say, textOf } from "./asking.mjs";

export function defineEarlierTools(server) {
  server.tool(
    "test_sampling",
    { description: "Asks the client's model.", input: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => `LLM response: ${textOf(await ctx.sample("prompt", say(prompt)))}`,
  );

  server.tool(
    "test_elicitation",
    { description: "Asks the person.", input: z.object({ message: z.string() }) },
    async ({ message }, ctx) =>
      told(
        await ctx.elicit("form", {
          message,
          schema: z.object({ username: z.string().optional(), email: z.string().optional() }),
        }),
      ),
  );

  server.tool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks with a default for every kind of field." },
    async (_args, ctx) =>
      told(await ctx.elicit("form", { message: "Please review the defaults", schema: withDefaults })),
  );

  server.tool(
    "test_elicitation_sep1330_enums",
    { description: "Asks with every kind of choice." },
    async (_args, ctx) => told(await ctx.elicit("form", { message: "Please choose", schema: withChoices })),
  );

  server.tool(
    "test_reconnection",
    { description: "Takes a while, so that a client can come back for the answer." },
    async (_args, ctx) => {
      ctx.log("info", "Working");
      await sleep(100);
      return "Reconnection test completed successfully";
    },
  );
}

function told({ action, content }) {
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

const withDefaults = z.object({
  name: z.string().default("John Doe"),
  age: z.int().default(30),
  score: z.number().default(95.5),
  status: z.enum(["active", "inactive", "pending"]).default("active"),
  verified: z.boolean().default(true),
});

const options = ["option1", "option2", "option3"];
const values = [
  { const: "value1", title: "First Option" },
  { const: "value2", title: "Second Option" },
  { const: "value3", title: "Third Option" },
];

const withChoices = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: values },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: values } },
  },
};
