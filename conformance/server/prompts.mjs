/** Prompts: plain, with arguments that are completed, with a resource, with an image. */
import { embedded, image } from "mica-mcp";
import { z } from "zod";
import { PNG } from "./samples.mjs";

export function definePrompts(server) {
  server.prompt(
    "test_simple_prompt",
    { description: "A prompt without arguments." },
    () => "This is a simple prompt for testing.",
  );

  server.prompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt with arguments.",
      input: z.object({ arg1: z.string().describe("First"), arg2: z.string().describe("Second") }),
      complete: { arg1: ["paris", "park", "party"] },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );

  server.prompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt with a resource.", input: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => [
      embedded({
        uri: resourceUri,
        mimeType: "text/plain",
        text: "Embedded resource content for testing.",
      }),
      "Please process the embedded resource above.",
    ],
  );

  server.prompt("test_prompt_with_image", { description: "A prompt with an image." }, () => [
    image(PNG, "image/png"),
    "Please analyze the image above.",
  ]);
}
