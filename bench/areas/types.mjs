/** Type-checking time of a project with 200 tools, beside the same schemas and functions without any SDK. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { cache } from "../measure/bundles.mjs";
import { onCore } from "../measure/processes.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";

export const title = "Type-checking a project with 200 tools (tsc --noEmit)";

const TOOLS = 200;
const FILES = 10;

const schema = (at) => `z.object({
    title: z.string().describe("What it is called."),
    count${at}: z.int().min(0).optional(),
    kind: z.enum(["a${at}", "b${at}", "c${at}"]),
    tags: z.array(z.string()),
    place: z.object({ street: z.string(), number: z.number() }).optional(),
  })`;
const body = (at) => `title + kind + (count${at} ?? 0) + tags.length + (place?.street ?? "")`;
const args = (at) => `{ title, kind, count${at}, tags, place }`;

const CONTENDERS = [
  {
    name: "zod and functions alone",
    required: true,
    imports: "",
    tool: (at) =>
      `const input${at} = ${schema(at)};\nexport const tool${at} = (${args(at)}: z.output<typeof input${at}>) => ${body(at)};`,
  },
  {
    name: "mica",
    required: true,
    imports: `import { createServer } from "mica-mcp";\nconst server = createServer({ name: "a", version: "1.0.0" });`,
    tool: (at) =>
      `server.tool("tool_${at}", { description: "Do it.", input: ${schema(at)} }, async (${args(at)}) => ${body(at)});`,
  },
  {
    name: "official 2.4",
    imports: `import { McpServer } from "@modelcontextprotocol/server";\nconst server = new McpServer({ name: "a", version: "1.0.0" });`,
    tool: (at) =>
      `server.registerTool("tool_${at}", { description: "Do it.", inputSchema: ${schema(at)} }, async (${args(at)}) => ({ content: [{ type: "text", text: ${body(at)} }] }));`,
  },
  {
    name: "sdk 1.32",
    full: true,
    imports: `import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";\nconst server = new McpServer({ name: "a", version: "1.0.0" });`,
    tool: (at) =>
      `server.registerTool("tool_${at}", { description: "Do it.", inputSchema: ${schema(at)} }, async (${args(at)}) => ({ content: [{ type: "text", text: ${body(at)} }] }));`,
  },
];

const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

export async function run({ quick }) {
  const contenders = CONTENDERS.filter(({ full }) => !(quick && full)).map((each, at) => ({
    ...each,
    folder: project(each, at),
  }));
  try {
    return rowsOf("200 tools", await takeTurns(contenders, quick ? 2 : 7, check));
  } finally {
    for (const { folder } of contenders) rmSync(folder, { recursive: true, force: true });
  }
}

function project({ imports, tool }, number) {
  const folder = `${cache}/types-${number}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const each = TOOLS / FILES;
  for (let file = 0; file < FILES; file++) {
    const tools = Array.from({ length: each }, (_, at) => tool(file * each + at));
    writeFileSync(
      `${folder}/tools${file}.ts`,
      [`import { z } from "zod";`, imports, ...tools, ""].join("\n"),
    );
  }
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
  };
  writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, type: "module" }));
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  return folder;
}

async function check({ folder }) {
  const [command, ...rest] = onCore([process.execPath, tsc, "-p", folder, "--extendedDiagnostics"], "all");
  const began = performance.now();
  const { status, stdout } = spawnSync(command, rest, { encoding: "utf8" });
  const elapsed = performance.now() - began;
  if (status !== 0) throw new Error(stdout.slice(0, 2_000));
  const count = (name) => {
    const found = new RegExp(`^${name}:\\s+([\\d,.]+)`, "m").exec(stdout)?.[1];
    return found === undefined ? undefined : Number(found.replaceAll(",", ""));
  };
  return { "ms to check": elapsed, types: count("Types"), instantiations: count("Instantiations") };
}
