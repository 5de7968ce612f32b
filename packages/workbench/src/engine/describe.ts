/** What a server is and offers, found out by asking it. */
import type {
  CallOptions,
  Client,
  EraReport,
  Implementation,
  ListOutcome,
  ServerCapabilities,
} from "mica-mcp/client";

export const COUNTED = ["tools", "resources", "resourceTemplates", "prompts"] as const;
export type Counted = (typeof COUNTED)[number];

export interface Count {
  readonly entries: number;
  /** Whether that is all of them. */
  readonly complete: boolean;
}

/** A list that the server declares, and did not give. */
export interface ListProblem {
  readonly list: Counted;
  readonly code: string;
  readonly message: string;
}

export interface ServerDescription {
  readonly server: Implementation | null;
  readonly protocolVersion: string;
  /** Which branch of the specification's rule led to that revision, and what was seen on the way. */
  readonly era: EraReport;
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | null;
  /** Only of what the server declares. */
  readonly counts: Partial<Record<Counted, Count>>;
  readonly problems: readonly ListProblem[];
}

/** Asks for everything that the server declares. A list that fails is a problem, and keeps nothing from being told. */
export async function describeServer(client: Client, options: CallOptions): Promise<ServerDescription> {
  const discovered = await client.discover(options);
  const { capabilities } = discovered;
  const counts: Partial<Record<Counted, Count>> = {};
  const problems: ListProblem[] = [];
  await Promise.all(
    COUNTED.filter((list) => capabilities[list === "resourceTemplates" ? "resources" : list]).map(
      async (list) => {
        try {
          const { outcome, entries } = await listed(client, list, options);
          counts[list] = { entries, complete: outcome.complete };
        } catch (error) {
          if (options.signal?.aborted || !isMcpError(error)) throw error;
          problems.push({ list, code: error.code, message: error.message });
        }
      },
    ),
  );
  return {
    server: client.serverInfo ?? null,
    protocolVersion: client.protocolVersion,
    era: client.era,
    supportedVersions: discovered.supportedVersions,
    capabilities,
    instructions: discovered.instructions ?? null,
    // In one order, whichever list came first.
    counts: Object.fromEntries(COUNTED.filter((list) => counts[list]).map((list) => [list, counts[list]])),
    problems: COUNTED.flatMap((list) => problems.filter((problem) => problem.list === list)),
  };
}

async function listed(
  client: Client,
  list: Counted,
  options: CallOptions,
): Promise<{ outcome: ListOutcome; entries: number }> {
  switch (list) {
    case "tools": {
      const outcome = await client.listTools(options);
      return { outcome, entries: outcome.tools.length };
    }
    case "resources": {
      const outcome = await client.listResources(options);
      return { outcome, entries: outcome.resources.length };
    }
    case "resourceTemplates": {
      const outcome = await client.listResourceTemplates(options);
      return { outcome, entries: outcome.resourceTemplates.length };
    }
    case "prompts": {
      const outcome = await client.listPrompts(options);
      return { outcome, entries: outcome.prompts.length };
    }
  }
}

function isMcpError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === "McpError";
}
