/** The inputs of the tools in zod's words. */
import { z } from "zod";

export const zodInputs = () => ({
  echo: z.object({ text: z.string(), times: z.int().optional(), loud: z.boolean().optional() }),
  length: z.object({ text: z.string() }),
  work: z.object({}),
});
