/** Cold start on stdio: from spawn to the answer to `tools/list`, beside a bare echo of lines. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { bundled, cache, root } from "../measure/bundles.mjs";
import { contender, cpuMicros, onCore } from "../measure/processes.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";
import { earlierRequest, INITIALIZE, INITIALIZED, request } from "../message.mjs";

export const title = "Cold start on stdio";

const database = `${cache}/cold-start.sqlite`;
const log = ["--database", database];
/** Built by `mica build`. */
const published = `${root}servers/incidents/dist/incidents-mcp.js`;

/** `addon`: machine code that was compiled for the Node that runs this, and for no other. */
const DIRECT = [
  { name: "line echo", file: "contenders/stdio-echo", required: true },
  { name: "mica, JSON Schema", file: "contenders/stdio-mica-schema", required: true },
  { name: "mica, JSON Schema, bundled", file: "contenders/stdio-mica-schema", bundle: true, full: true },
  { name: "mica, valibot", file: "contenders/stdio-mica-valibot", required: true },
  { name: "mica, valibot, bundled", file: "contenders/stdio-mica-valibot", bundle: true, full: true },
  { name: "mica, zod", file: "contenders/stdio-mica-small", full: true },
  { name: "mica, zod, bundled", file: "contenders/stdio-mica-small", bundle: true, required: true },
  { name: "incident log", file: "contenders/stdio-incidents", args: log, addon: true, full: true },
  { name: "incident log, bundled", path: published, args: log, addon: true, required: true },
  { name: "official 2.4, zod", file: "contenders/stdio-official" },
  { name: "official 2.4, zod, bundled", file: "contenders/stdio-official", bundle: true, full: true },
  { name: "sdk 1.32, zod", file: "contenders/stdio-sdk1", earlier: true, full: true },
  { name: "fastmcp, zod", file: "peers/stdio-fastmcp", earlier: true, full: true },
];

/** As hosts start published servers: by the name of a command that is installed. */
const NPX = [
  { name: "line echo", command: "mica-bench-echo" },
  { name: "incident log, bundled", command: "incidents-mcp", args: log },
];

export async function run({ quick, nodes }) {
  const contenders = DIRECT.filter(({ full }) => !(quick && full)).map((each) => {
    if (each.path !== undefined) return each;
    const file = contender(each.file);
    return { ...each, path: each.bundle ? bundled(file) : file };
  });
  const rows = [];
  for (const { name: version, binary, isCurrent } of nodes) {
    const starting = ({ path, args = [], earlier }) => start([binary, path, ...args], earlier);
    const able = contenders.filter(({ addon }) => isCurrent || !addon);
    const samples = await takeTurns(able, quick ? 11 : 25, starting);
    rows.push(...rowsOf(isCurrent ? "direct" : `direct, ${version}`, samples));
  }
  if (!quick) {
    const starting = ({ command, args = [] }) => start(["npx", "--no-install", command, ...args]);
    rows.push(...rowsOf("npx", await takeTurns(NPX, 9, starting)));
  }
  for (const end of ["", "-shm", "-wal"]) rmSync(`${database}${end}`, { force: true });
  return rows;
}

async function start(command, earlier = false) {
  const messages = earlier
    ? [INITIALIZE, INITIALIZED, earlierRequest(1, "tools/list", {})]
    : [request(1, "tools/list", {})];
  const answers = earlier ? 2 : 1;
  const [file, ...args] = onCore(command);
  const began = performance.now();
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "ignore"], cwd: root });
  const gone = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  child.stdin.on("error", () => {});
  child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  let said = "";
  let elapsed;
  let cpu;
  for await (const data of child.stdout) {
    said += data;
    if (said.split("\n").length - 1 < answers) continue;
    elapsed = performance.now() - began;
    cpu = cpuMicros(child.pid);
    break;
  }
  child.stdin.end();
  await gone;
  clearTimeout(timer);
  if (elapsed === undefined || !said.includes('"result"'))
    throw new Error(`${command.join(" ")} answered ${said}`);
  return { "ms to tools/list": elapsed, "ms CPU": cpu === undefined ? undefined : cpu / 1000 };
}
