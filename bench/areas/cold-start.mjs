/** Cold start on stdio: from spawn to the answer of the first request, beside a bare line echo. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { request } from "../message.mjs";
import { median, spread } from "../table.mjs";

export const title = "Cold start on stdio (spawn to first answer)";

const contenders = {
  "bare line echo": "stdio-echo",
  "mica, JSON Schema": "stdio-mica-schema",
  "mica, zod": "stdio-mica-zod",
  "official server 2.4, zod": "stdio-official",
};

export async function run({ quick }) {
  const rounds = quick ? 7 : 25;
  const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, file] of Object.entries(contenders)) {
      const elapsed = await start(fileURLToPath(new URL(`../contenders/${file}.mjs`, import.meta.url)));
      // The first round fills the disk cache.
      if (round >= 0) times[name].push(elapsed);
    }
  }
  const floor = median(times["bare line echo"]);
  return Object.entries(times).map(([contender, values]) => ({
    case: "tools/list",
    contender,
    value: median(values),
    spread: spread(values),
    unit: "ms",
    ratio: contender === "bare line echo" ? "1" : `+${(median(values) - floor).toFixed(1)} ms`,
  }));
}

function start(file) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(process.execPath, [file], { stdio: ["pipe", "pipe", "inherit"] });
    child.on("error", reject);
    child.stdout.once("data", (data) => {
      const elapsed = performance.now() - began;
      child.stdin.end();
      if (!String(data).includes('"result"')) reject(new Error(`${file} answered ${data}`));
      child.once("exit", () => resolve(elapsed));
      setTimeout(() => child.kill("SIGKILL"), 3000).unref();
    });
    child.stdin.write(`${JSON.stringify(request(1, "tools/list", {}))}\n`);
  });
}
