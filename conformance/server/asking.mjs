/** Tools and a prompt that ask the client for input before they can answer (patterns/mrtr). */
import { z } from "zod";

const askName = { message: "What is your name?", schema: z.object({ name: z.string() }) };
const askConfirmation = { message: "Please confirm", schema: z.object({ ok: z.boolean() }) };

export function defineAskingTools(server) {
  server.tool(
    "test_input_required_result_elicitation",
    { description: "Asks for a name." },
    async (_args, ctx) => {
      const answer = await ctx.elicit("user_name", askName);
      return answer.action === "accept" ? `Hello, ${answer.content.name}!` : "Hello, whoever you are!";
    },
  );

  server.tool(
    "test_input_required_result_sampling",
    { description: "Asks the client's model." },
    async (_args, ctx) => {
      const message = await ctx.sample("capital_question", say("What is the capital of France?"));
      return textOf(message);
    },
  );

  server.tool(
    "test_input_required_result_list_roots",
    { description: "Asks for roots." },
    async (_args, ctx) => {
      const roots = await ctx.roots("client_roots");
      return `Roots: ${roots.map(({ uri }) => uri).join(", ")}`;
    },
  );

  server.tool(
    "test_input_required_result_request_state",
    { description: "Asks for a confirmation, and remembers meanwhile what it did." },
    async (_args, ctx) => {
      const marker = await ctx.step("marker", () => "state-ok");
      await ctx.elicit("confirm", askConfirmation);
      return marker;
    },
  );

  server.tool(
    "test_input_required_result_multiple_inputs",
    { description: "Asks for three things at once." },
    async (_args, ctx) => {
      const answers = await ctx.ask({
        user_name: { elicit: askName },
        greeting: { sample: say("Generate a greeting") },
        client_roots: { roots: true },
      });
      return `${textOf(answers.greeting)} (${answers.user_name.action}, ${answers.client_roots.length} roots)`;
    },
  );

  server.tool(
    "test_input_required_result_multi_round",
    { description: "Asks twice." },
    async (_args, ctx) => {
      const first = await ctx.elicit("step1", {
        ...askName,
        message: "Step 1: What is your name?",
      });
      const second = await ctx.elicit("step2", {
        message: "Step 2: What is your favorite color?",
        schema: z.object({ color: z.string() }),
      });
      if (first.action !== "accept" || second.action !== "accept") return "No answer";
      return `${first.content.name} likes ${second.content.color}`;
    },
  );

  server.tool(
    "test_input_required_result_tampered_state",
    { description: "Asks for a confirmation." },
    async (_args, ctx) => {
      const { action } = await ctx.elicit("confirm", askConfirmation);
      return `Confirmed: ${action}`;
    },
  );

  server.tool(
    "test_input_required_result_capabilities",
    { description: "Asks for what the client can answer." },
    async (_args, ctx) => {
      const answers = await ctx.ask({
        ...(ctx.can("elicit") && { name: { elicit: askName } }),
        ...(ctx.can("sample") && { greeting: { sample: say("Generate a greeting") } }),
      });
      return `Answered: ${Object.keys(answers).join(", ")}`;
    },
  );

  server.tool("test_missing_capability", { description: "Needs sampling." }, async (_args, ctx) =>
    textOf(await ctx.sample("needed", say("Say something"))),
  );

  server.tool(
    "test_streaming_elicitation",
    { description: "Reports progress, then asks." },
    async (_args, ctx) => {
      ctx.progress(1, 2, "About to ask");
      const { action } = await ctx.elicit("confirm", askConfirmation);
      return `Confirmed: ${action}`;
    },
  );

  server.prompt(
    "test_input_required_result_prompt",
    { description: "Asks for a context." },
    async (_args, ctx) => {
      const answer = await ctx.elicit("user_context", {
        message: "What context should the prompt use?",
        schema: z.object({ context: z.string() }),
      });
      return answer.action === "accept" ? `Context: ${answer.content.context}` : "No context";
    },
  );
}

export function say(text) {
  return { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 };
}

export function textOf({ content }) {
  return [content]
    .flat()
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join(" ");
}
