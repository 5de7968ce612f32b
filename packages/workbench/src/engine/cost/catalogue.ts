/** Everything that a server says of itself before anything is called: what `mica cost` counts. */
import type {
  CallOptions,
  Client,
  ListOutcome,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from "mica-mcp/client";

export interface Catalogue {
  /** Empty where there are none. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
  /** Whether every list was read to its end. */
  readonly complete: boolean;
  /** What became of lists that were cut, or not given. */
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

/** Asks for every list that the server declares. A list that fails is a problem, and keeps the others from nothing. */
export async function readCatalogue(client: Client, call: CallOptions): Promise<Catalogue> {
  const { capabilities, instructions } = await client.discover(call);
  const problems: { code: string; message: string }[] = [];
  const none: ListOutcome = { complete: false, leftOut: [] };

  async function read<T extends ListOutcome>(
    declared: boolean,
    list: () => Promise<T>,
    method: string,
  ): Promise<Partial<T>> {
    if (!declared) return {};
    try {
      const outcome = await list();
      if (outcome.reason !== undefined) problems.push({ code: "list_cut", message: outcome.reason });
      return outcome;
    } catch (error) {
      if (call.signal?.aborted || !(error instanceof Error) || error.name !== "McpError") throw error;
      // A server with resources and without templates may know nothing of the method that lists them.
      const isUnknown = (error.cause as { code?: unknown } | undefined)?.code === -32601;
      if (isUnknown && method === "resources/templates/list") return {};
      problems.push({ code: "list_failed", message: `${method}: ${error.message}` });
      return none as Partial<T>;
    }
  }

  const { tools, resources, prompts } = capabilities;
  const [listedTools, listedResources, listedTemplates, listedPrompts] = await Promise.all([
    read(tools !== undefined, () => client.listTools(call), "tools/list"),
    read(resources !== undefined, () => client.listResources(call), "resources/list"),
    read(resources !== undefined, () => client.listResourceTemplates(call), "resources/templates/list"),
    read(prompts !== undefined, () => client.listPrompts(call), "prompts/list"),
  ]);
  return {
    instructions: typeof instructions === "string" ? instructions : "",
    tools: listedTools.tools ?? [],
    resources: listedResources.resources ?? [],
    resourceTemplates: listedTemplates.resourceTemplates ?? [],
    prompts: listedPrompts.prompts ?? [],
    complete: [listedTools, listedResources, listedTemplates, listedPrompts].every(
      ({ complete }) => complete !== false,
    ),
    problems,
  };
}
