/** `mica resources`: lists the resources and the resource templates. */
import type {
  CallOptions,
  Client,
  Resource,
  ResourceTemplate,
  ResourceTemplateListing,
} from "mica-mcp/client";
import { sizeText } from "../../engine/binary.js";
import { cell, indented, listWarnings, summaryCell } from "../listing.js";
import type { Screen } from "../screen.js";
import { type Column, table } from "../table.js";
import { visible } from "../terminal.js";
import type { Answer, VerbContext, VerbWarning } from "../verb.js";

export async function run({ options, open }: VerbContext): Promise<Answer> {
  const { client, call } = await open();
  const [resources, templates] = await Promise.all([client.listResources(call), listTemplates(client, call)]);
  const warnings: VerbWarning[] = listWarnings(resources, templates.listing);
  if (templates.warning) warnings.push(templates.warning);
  const result = {
    resources: resources.resources,
    resourceTemplates: templates.listing.resourceTemplates,
    complete: resources.complete && templates.listing.complete,
    leftOut: [...resources.leftOut, ...templates.listing.leftOut],
  };
  return {
    result,
    warnings,
    print: (screen) => print(screen, result.resources, result.resourceTemplates, options.verbose),
  };
}

/** A server with resources and without templates may know nothing of the method that lists them. */
async function listTemplates(
  client: Client,
  call: CallOptions,
): Promise<{ listing: ResourceTemplateListing; warning?: VerbWarning }> {
  try {
    return { listing: await client.listResourceTemplates(call) };
  } catch (error) {
    if (((error as Error).cause as { code?: unknown } | undefined)?.code !== -32601) throw error;
    const message = `The server does not list resource templates: ${(error as Error).message}`;
    return {
      listing: { resourceTemplates: [], complete: true, leftOut: [] },
      warning: { code: "templates_unknown", message },
    };
  }
}

async function print(
  screen: Screen,
  resources: readonly Resource[],
  templates: readonly ResourceTemplate[],
  verbose: boolean,
): Promise<void> {
  const { out, say } = screen;
  const { bold, dim } = out.paint;
  if (resources.length + templates.length === 0)
    return say("The server lists no resources and no templates.");
  const about = (entries: readonly (Resource | ResourceTemplate)[]): Column[] => [
    { cells: entries.map(({ title, name }) => cell(title ?? name)), least: 12 },
    { cells: entries.map(({ mimeType }) => cell(mimeType)), paint: dim },
    {
      cells: entries.map((entry) =>
        "size" in entry && typeof entry.size === "number" ? sizeText(entry.size) : "",
      ),
      paint: dim,
    },
    // The title stands in the table already.
    { cells: entries.map(({ description }) => summaryCell({ description })), paint: dim, least: 20 },
  ];
  const sections = [
    { heading: "Resources", entries: resources, uris: resources.map(({ uri }) => uri) },
    { heading: "Templates", entries: templates, uris: templates.map(({ uriTemplate }) => uriTemplate) },
  ].filter(({ entries }) => entries.length > 0);
  for (const [index, { heading, entries, uris }] of sections.entries()) {
    const columns = [{ cells: uris.map(cell), paint: bold }, ...about(entries)];
    const lines = table(verbose ? columns.slice(0, -1) : columns, verbose ? undefined : out.columns);
    const texts = verbose ? lines.map((line, row) => line + full(entries[row]?.description)) : lines;
    const head = sections.length > 1 ? `${index > 0 ? "\n" : ""}${dim(heading)}\n` : "";
    await out.write(`${head}${texts.join("\n")}\n`);
  }
}

function full(description: unknown): string {
  return typeof description === "string" && description.trim()
    ? `\n${indented(visible(description.trim()))}`
    : "";
}
