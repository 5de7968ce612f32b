/** What an SDK puts on a disk, and what of it a server reads before it answers. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cache, root } from "../measure/bundles.mjs";
import { contender } from "../measure/processes.mjs";
import { rowsOf } from "../measure/rounds.mjs";
import { earlierRequest, INITIALIZE, INITIALIZED, request } from "../message.mjs";

export const title = "Installed, and loaded at start";

const INSTALLS = [
  { name: "mica" },
  { name: "mica and zod", packages: ["zod@4.6.7"], withMica: true, full: true },
  {
    name: "official 2.4, for HTTP with node",
    packages: ["@modelcontextprotocol/server@2.4.0", "@modelcontextprotocol/node@2.1.2"],
    full: true,
  },
  { name: "official 2.4, server alone", packages: ["@modelcontextprotocol/server@2.4.0"], full: true },
  { name: "sdk 1.32", packages: ["@modelcontextprotocol/sdk@1.32.0"], full: true },
  { name: "mcp-lite", packages: ["mcp-lite@0.10.0"], full: true },
  { name: "fastmcp", packages: ["fastmcp@4.20.16"], full: true },
];

const STARTS = [
  { name: "mica, JSON Schema", file: "contenders/stdio-mica-schema" },
  { name: "mica, zod", file: "contenders/stdio-mica-small", full: true },
  { name: "official 2.4, zod", file: "contenders/stdio-official" },
  { name: "sdk 1.32, zod", file: "contenders/stdio-sdk1", earlier: true, full: true },
  { name: "fastmcp, zod", file: "peers/stdio-fastmcp", earlier: true, full: true },
];

/** There is no floor here: ratios are to the first, which is Mica. */
export async function run({ quick }) {
  const wanted = ({ full }) => !(quick && full);
  const installed = new Map(INSTALLS.filter(wanted).map((each) => [each.name, [install(each)]]));
  const loaded = new Map(STARTS.filter(wanted).map((each) => [each.name, [loadedBy(each)]]));
  return [...rowsOf("npm install", installed), ...rowsOf("until tools/list is answered", loaded)];
}

function install({ packages = [], withMica = packages.length === 0 }) {
  const folder = `${cache}/install`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, type: "module" }));
  const npm = (...args) =>
    execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const tarballs = [];
  if (withMica) {
    const said = npm("pack", "--json", `${root}packages/mica`, "--pack-destination", folder);
    const [{ filename }] = JSON.parse(said);
    tarballs.push(`./${filename}`);
  }
  npm("install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", ...tarballs, ...packages);
  const weight = weigh(`${folder}/node_modules`);
  rmSync(folder, { recursive: true, force: true });
  return weight;
}

function weigh(folder) {
  let packages = 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = `${entry.parentPath ?? entry.path}/${entry.name}`;
    if (!entry.isFile()) continue;
    bytes += statSync(path).size;
    if (/node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path)) packages++;
  }
  return { packages, "MB installed": bytes / 1e6 };
}

/** Files that a server has read by its first answer, apart from the bench's own and those of Node. */
function loadedBy({ file, earlier }) {
  const hook = fileURLToPath(new URL("../measure/loaded-files.mjs", import.meta.url));
  const messages = earlier
    ? [INITIALIZE, INITIALIZED, earlierRequest(1, "tools/list", {})]
    : [request(1, "tools/list", {})];
  const { stderr } = spawnSync(process.execPath, ["--import", hook, contender(file)], {
    input: messages.map((message) => `${JSON.stringify(message)}\n`).join(""),
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: 30_000,
  });
  const files = [...new Set([...stderr.matchAll(/^loaded (.+)$/gm)].map(([, path]) => path))].filter(
    (path) => !/\/bench\/(?:contenders|measure|peers)\/[^/]+$|\/bench\/message\.mjs$/.test(path),
  );
  return {
    files: files.length,
    "kB loaded": files.reduce((sum, path) => sum + readFileSync(path).length, 0) / 1e3,
  };
}
