/** Start of a command that lists tools: from its spawn to the tools on its stdout, the start of the server included. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { cache, root } from "../measure/bundles.mjs";
import { contender, cpuMicros, onCore } from "../measure/processes.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";

export const title = "Listing the tools of a bare server from the command line";

const server = contender("contenders/stdio-answers");
const inspector = `${root}bench/peers/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
/** What the last tool of the server is called. */
const LAST = /\bwork\b/;
/** Milliseconds until a contender has failed. */
const PATIENCE_MS = 20_000;

/** Words after Node. */
const DIRECT = [
  { name: "by hand", args: [contender("contenders/list-by-hand"), server], required: true },
  {
    name: "mica tools",
    args: [`${root}packages/workbench/dist/mica.js`, "tools", "--", process.execPath, server],
    required: true,
  },
  {
    name: "Inspector 2.12, --cli",
    args: [inspector, "--cli", process.execPath, server, "--method", "tools/list"],
    full: true,
  },
];

export async function run({ quick, nodes }) {
  // Inspector keeps files in the home directory, and none of them is for the next one who runs this.
  const home = `${cache}/command-start`;
  mkdirSync(home, { recursive: true });
  const contenders = DIRECT.filter(({ full }) => !full || (!quick && existsSync(inspector)));
  const rows = [];
  for (const { name: version, binary, isCurrent } of nodes) {
    const samples = await takeTurns(contenders, quick ? 7 : 21, ({ args }) => start([binary, ...args], home));
    rows.push(...rowsOf(isCurrent ? "direct" : `direct, ${version}`, samples));
  }
  return rows;
}

async function start(command, home) {
  const [file, ...args] = onCore(command, "all");
  const began = performance.now();
  const child = spawn(file, args, {
    stdio: ["ignore", "pipe", "ignore"],
    cwd: root,
    env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home },
  });
  const gone = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  let said = "";
  let elapsed;
  let cpu;
  for await (const data of child.stdout) {
    said += data;
    if (elapsed !== undefined || !LAST.test(said)) continue;
    elapsed = performance.now() - began;
    cpu = cpuMicros(child.pid);
  }
  const [code] = await gone;
  clearTimeout(timer);
  if (elapsed === undefined || code !== 0)
    throw new Error(`${command.join(" ")} ended with code ${code} and printed ${said}`);
  return { "ms to the tools": elapsed, "ms CPU of its own": cpu === undefined ? undefined : cpu / 1000 };
}
