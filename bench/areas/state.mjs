/** Sealing and opening `requestState`: microseconds each, beside the least that could carry a state (JSON and base64). */

import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";

export const title = "requestState: seal and open (one answer, one step; four arguments)";

const state = {
  callId: "3f1c8a52-6a7e-4f0b-9a54-0d6d9a3f2b11",
  round: 1,
  answers: { when: { action: "accept", content: { startsAt: "2026-09-10T08:30:00Z" } } },
  steps: { reserve: [{ order: "o-1", left: 4 }] },
};
const binding = {
  principal: "https://auth.example.com alice",
  method: "tools/call",
  name: "create_event",
  args: { title: "Dentist", place: "Main Street 1", minutes: 30, tags: ["health", "errand"] },
};

export async function run({ quick }) {
  const { createStateSeal } = await loadSource("packages/mica/src/server/sealed-state.ts");
  const seal = createStateSeal({ keys: "k".repeat(32) });
  const sealed = await seal.seal(state, binding);
  const plain = Buffer.from(JSON.stringify(state)).toString("base64url");
  const contenders = [
    {
      name: "JSON and base64, no seal",
      seal: async () => Buffer.from(JSON.stringify(state)).toString("base64url"),
      open: async () => JSON.parse(Buffer.from(plain, "base64url").toString()),
    },
    {
      name: "mica, AES-256-GCM",
      seal: () => seal.seal(state, binding),
      open: () => seal.open(sealed, binding),
    },
  ];
  const rows = [];
  for (const what of ["seal", "open"]) {
    const samples = await takeTurns(contenders, quick ? 7 : 15, (each) =>
      microsOf(each[what], quick ? 2_000 : 10_000),
    );
    rows.push(...rowsOf(what, samples));
  }
  return rows;
}

async function microsOf(task, repeats) {
  const began = performance.now();
  const { user, system } = process.cpuUsage();
  for (let at = 0; at < repeats; at++) await task();
  const cpu = process.cpuUsage({ user, system });
  return {
    µs: ((performance.now() - began) * 1000) / repeats,
    "µs CPU": (cpu.user + cpu.system) / repeats,
  };
}

/** A module that is not published, as it stands in the source. */
async function loadSource(path) {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const outfile = `${root}node_modules/.cache/bench/${path.replaceAll("/", "-")}.mjs`;
  await build({
    absWorkingDir: root,
    entryPoints: [path],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "warning",
  });
  return import(pathToFileURL(outfile).href);
}
