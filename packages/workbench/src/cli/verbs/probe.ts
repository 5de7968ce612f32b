/** `mica probe`: what a server is. */
import type { EraBranch } from "mica-mcp/client";
import { COUNTED, type Counted, describeServer, type ServerDescription } from "../../engine/describe.js";
import { targetName } from "../../engine/target.js";
import { EXIT, exitCodeFor } from "../exit.js";
import { cell, indented } from "../listing.js";
import type { Screen } from "../screen.js";
import { visible, visibleLine } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

const COUNT_NAMES: Readonly<Record<Counted, string>> = {
  tools: "tool",
  resources: "resource",
  resourceTemplates: "resource template",
  prompts: "prompt",
};

/** Why the era is what it is (basic/versioning, Backward Compatibility). */
const REASONS: Readonly<Record<EraBranch, string>> = {
  discovered: "server/discover was answered",
  modern_error: "server/discover was refused with an error that only modern servers give, then answered",
  legacy_error: "server/discover was refused with an error that is none of a modern server's",
  legacy_result: "server/discover was answered with something else",
  http_status: "the request was refused with an HTTP status and no modern error",
  silence: "server/discover was not answered in time",
  exit: "the process ended on server/discover",
  remembered: "so it was the last time",
  forced: "--era says so",
};

/** Lines of instructions that are shown without `--verbose`. */
const INSTRUCTION_LINES = 8;

export async function run({ target, options, open }: VerbContext): Promise<Answer> {
  const { client, discoverMs, call } = await open();
  const described = await describeServer(client, call);
  const result = { ...described, target: targetName(target), discoverMs: Math.round(discoverMs * 10) / 10 };
  const [problem] = described.problems;
  return {
    result,
    warnings: described.problems.map(({ code, message }) => ({ code, message })),
    print: (screen) => print(screen, result, options.verbose),
    exitCode: problem === undefined ? EXIT.ok : exitCodeFor(problem.code),
  };
}

async function print(
  { out }: Screen,
  described: ServerDescription & { target: string; discoverMs: number },
  verbose: boolean,
): Promise<void> {
  const { bold, dim } = out.paint;
  const { server, protocolVersion, supportedVersions, capabilities, instructions } = described;
  const name =
    server === null
      ? "(a server that does not say its name)"
      : `${cell(server.name)} ${cell(server.version)}`;
  const rows: [string, string][] = [
    ["target", visibleLine(described.target)],
    ["era", `${described.era.era}: ${REASONS[described.era.branch]}`],
    ...described.era.saw.map((seen): [string, string] => ["saw", visibleLine(seen)]),
    ["protocol", `${cell(protocolVersion)}; the server speaks ${supportedVersions.map(cell).join(", ")}`],
    ["capabilities", capabilitiesText(capabilities) || "none"],
    ["offers", countsText(described) || "nothing to list"],
    ["discovered in", `${Math.round(described.discoverMs)} ms`],
  ];
  if (server?.websiteUrl) rows.splice(1, 0, ["website", cell(server.websiteUrl)]);
  const lines = [bold(name) + (server?.title ? ` ${dim(cell(server.title))}` : "")];
  for (const [label, value] of rows) lines.push(`  ${dim(label.padEnd(14))}${value}`);
  if (typeof instructions === "string" && instructions.trim() !== "") {
    const all = visible(instructions.trim()).split("\n");
    const some = verbose ? all : all.slice(0, INSTRUCTION_LINES);
    lines.push(`  ${dim("instructions")}`, indented(some.join("\n"), "    "));
    if (some.length < all.length)
      lines.push(dim(`    ... ${all.length - some.length} more lines; --verbose shows them`));
  }
  await out.write(`${lines.join("\n")}\n`);
}

/** `tools (listChanged), logging`. */
function capabilitiesText(capabilities: Readonly<Record<string, unknown>>): string {
  return Object.entries(capabilities)
    .map(([name, value]) => {
      const details = typeof value === "object" && value !== null ? Object.entries(value) : [];
      const inner = details.filter(([, on]) => on !== false).map(([detail]) => visibleLine(detail));
      return inner.length ? `${visibleLine(name)} (${inner.join(", ")})` : visibleLine(name);
    })
    .join(", ");
}

function countsText({ counts, problems }: ServerDescription): string {
  return COUNTED.flatMap((list) => {
    const count = counts[list];
    const name = COUNT_NAMES[list];
    if (count !== undefined) {
      const plural = count.entries === 1 && count.complete ? name : `${name}s`;
      return `${count.entries}${count.complete ? "" : " or more"} ${plural}`;
    }
    return problems.some((problem) => problem.list === list) ? `${name}s that cannot be listed` : [];
  }).join(", ");
}
