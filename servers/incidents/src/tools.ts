/** The three tools. Every word of a description is read by a model in every conversation, so there are few. */
import { type InputContext, type Server, ToolError } from "mica-mcp";
import { z } from "zod";
import { type TextForm, textProblem } from "../../kit/text.js";
import { readCursor, writeCursor } from "./cursor.js";
import { existing, told } from "./existing.js";
import { handleOf, numberOf, recordOf, rowOf } from "./handle.js";
import { type Incident, type IncidentStore, SEVERITIES, type Severity, STATES } from "./store.js";
import { READ, tenantOf, WRITE } from "./tenant.js";
import { isSearchable } from "./terms.js";

/** Lengths and characters are checked and not advertised: few callers come near, and all would read about them. */
const prose = (from: number, upTo: number, form: TextForm) =>
  z
    .string()
    .trim()
    .superRefine((text, ctx) => {
      const { length } = text;
      const message =
        length < from || length > upTo
          ? `Expected ${from} to ${upTo} characters, got ${length}`
          : textProblem(text, form);
      if (message !== undefined) ctx.addIssue({ code: "custom", message });
    });
const ONE_LINE = { lines: false };
const LINES = { lines: true };

const Search = z.strictObject({
  text: prose(0, 200, LINES)
    .refine((text) => text === "" || isSearchable(text), {
      error: "Expected words to search for, got only characters that nobody can see",
    })
    .describe("Words (auth* for any ending), or a handle for its full record")
    .optional(),
  severity: z.enum(SEVERITIES).optional(),
  state: z.enum(STATES).optional(),
  limit: z.int().min(1).max(100).default(20),
  cursor: z.string().describe("nextCursor of the last page").optional(),
});
const Open = z.strictObject({
  title: prose(1, 200, ONE_LINE),
  severity: z.enum(SEVERITIES).optional(),
  description: prose(0, 4000, LINES).optional(),
});
const Resolve = z.strictObject({
  id: z.string().describe("Handle, e.g. INC-3"),
  cause: prose(1, 1000, LINES).describe("One sentence: what actually broke"),
});

export function addTools(server: Server, store: IncidentStore): void {
  server.tool(
    "search_incidents",
    {
      description: "Search the incident log, newest first.",
      input: Search,
      annotations: { readOnlyHint: true, openWorldHint: false },
      scopes: [READ],
    },
    async ({ cursor, ...query }, { auth }) => {
      const before = cursor === undefined ? undefined : readCursor(cursor);
      const { incidents, more } = await told(store.of(tenantOf(auth)).search({ ...query, before }));
      const asked = numberOf(query.text?.trim() ?? "");
      return {
        incidents: incidents.map((incident) =>
          incident.number === asked ? recordOf(incident) : rowOf(incident),
        ),
        ...(more && { nextCursor: writeCursor(incidents.at(-1)!.number) }),
      };
    },
  );

  server.tool(
    "open_incident",
    {
      description: "Open an incident and get its handle. Writes to the log.",
      input: Open,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      scopes: [WRITE],
    },
    async ({ title, severity: given, description }, ctx) => {
      const severity = given ?? (await askSeverity(title, ctx));
      const log = store.of(tenantOf(ctx.auth));
      const opened = await told(log.open({ title, severity, description: description || undefined }));
      return { id: handleOf(opened.number), state: opened.state, openedAt: opened.openedAt };
    },
  );

  server.tool(
    "resolve_incident",
    {
      description: "Resolve an incident and record its cause. The first cause stands.",
      input: Resolve,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      scopes: [WRITE],
    },
    async ({ id, cause }, ctx) => {
      const log = store.of(tenantOf(ctx.auth));
      const incident = await existing(log, id);
      const { number } = incident;
      if (incident.severity === "sev1" && incident.state === "open") await confirm(incident, ctx);
      const resolved = await told(log.resolve(number, cause));
      if (resolved === undefined) throw new ToolError(`${handleOf(number)} is no longer in the log.`);
      return recordOf(resolved);
    },
  );
}

/** Asks the person; where the client has nobody to ask, the model is told what to give. */
async function askSeverity(title: string, ctx: InputContext): Promise<Severity> {
  if (!ctx.can("elicit")) throw new ToolError(`severity: give one of ${SEVERITIES.join(", ")}.`);
  const answer = await ctx.elicit("severity", {
    message: `How severe is ${JSON.stringify(title)}?`,
    schema: z.object({ severity: z.enum(SEVERITIES).describe("sev1 is the most severe") }),
  });
  if (answer.action !== "accept") throw new ToolError("No severity was given, so nothing was opened.");
  return answer.content.severity;
}

/** The most severe incidents are resolved by a person's word only: a client that has nobody to ask cannot. */
async function confirm({ number, title }: Incident, ctx: InputContext): Promise<void> {
  const answer = await ctx.elicit("confirm", {
    message: `Resolve ${handleOf(number)} (sev1), ${JSON.stringify(title)}?`,
    schema: z.object({ confirm: z.boolean().describe("Yes, it is over") }),
  });
  if (answer.action === "accept" && answer.content.confirm) return;
  throw new ToolError(`${handleOf(number)} was not confirmed, so it is still open.`);
}
