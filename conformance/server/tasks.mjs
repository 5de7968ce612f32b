/** Tools whose calls are answered with a task (SEP-2663). */
import { setTimeout as sleep } from "node:timers/promises";
import { ErrorCode, ProtocolError, ToolError } from "mica-mcp";
import { z } from "zod";

const confirm = { message: "Please confirm", schema: z.object({ confirm: z.boolean() }) };
const name = { message: "What is your name?", schema: z.object({ name: z.string() }) };

export function defineTasks(server) {
  server.tool(
    "greet",
    { description: "Answers at once.", input: z.object({ name: z.string() }) },
    ({ name }) => `Hello, ${name}!`,
  );

  server.tool(
    "slow_compute",
    {
      description: "Takes some seconds.",
      input: z.object({ seconds: z.number(), label: z.string().optional() }),
      task: "optional",
    },
    async ({ seconds, label }, ctx) => {
      await sleep(seconds * 1000, undefined, { signal: ctx.signal });
      return `Computed ${label} in ${seconds} seconds`;
    },
  );

  server.tool("failing_job", { description: "Fails after a second.", task: "required" }, async () => {
    await sleep(1000);
    throw new ToolError("This job always fails");
  });

  server.tool("protocol_error_job", { description: "Fails as a request.", task: "optional" }, () => {
    throw new ProtocolError(ErrorCode.InternalError, "This job ends with an error of the protocol");
  });

  server.tool(
    "confirm_delete",
    { description: "Asks before it deletes.", input: z.object({ filename: z.string() }), task: "optional" },
    async ({ filename }, ctx) => {
      const answer = await ctx.elicit("confirm", confirm);
      return answer.action === "accept" && answer.content.confirm
        ? `Deleted ${filename}`
        : "Nothing was deleted";
    },
  );

  server.tool(
    "multi_input",
    { description: "Asks two things at once.", task: "optional" },
    async (_args, ctx) => {
      const { who, sure } = await ctx.ask({ who: { elicit: name }, sure: { elicit: confirm } });
      return `${who.action}, ${sure.action}`;
    },
  );

  server.tool(
    "test_tool_with_task",
    { description: "Asks, and goes on as a task.", task: { support: "required", begins: "handler" } },
    async (_args, ctx) => {
      const answer = await ctx.elicit("user_name", name);
      await ctx.beginTask();
      return answer.action === "accept" ? `Hello, ${answer.content.name}!` : "Hello, whoever you are!";
    },
  );
}
