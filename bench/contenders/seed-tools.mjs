/** Three tools of an incident log, as a tutorial for the official SDK shows them: one reads, one writes, one closes. */
import { z } from "zod";

export const seedTools = {
  search_incidents: {
    description: "Search open incidents by words in their title.",
    input: z.object({ query: z.string().describe("Words to look for.") }),
    annotations: { readOnlyHint: true },
  },
  open_incident: {
    description: "Open an incident and return its handle.",
    input: z.object({
      title: z.string().describe("One line. What is broken."),
      severity: z.enum(["sev1", "sev2", "sev3"]),
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  },
  resolve_incident: {
    description: "Close an incident by handle and record its cause.",
    input: z.object({
      id: z.string().describe("The handle returned by open_incident, e.g. INC-3."),
      cause: z.string().describe("One sentence. What actually broke."),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  },
};
