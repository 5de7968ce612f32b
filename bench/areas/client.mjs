/** Client calls a second over both transports, beside a keep-alive agent of node:http and bare lines. */
import { startAll, stopAll } from "../measure/http-server.mjs";
import { ask, contender, cpuMicros, nextMessage, onCore, start, stop } from "../measure/processes.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";

export const title = "Clients, against a server by hand";

const HTTP = [
  { name: "node:http keep-alive agent", client: "client-floor", required: true },
  { name: "built-in fetch", client: "client-fetch", full: true },
  { name: "mica", client: "client-mica", required: true },
  { name: "official 2.4", client: "client-official" },
  { name: "sdk 1.32", client: "client-sdk1", full: true },
];
const STDIO = [
  { name: "bare lines", client: "client-floor", required: true },
  ...HTTP.filter(({ name }) => !/node:http|fetch/.test(name)),
];

const CASES = [
  { verb: "callTool", inFlight: 1, quick: true },
  { verb: "callTool", inFlight: 16, quick: true },
  { verb: "readResource", inFlight: 1 },
  { verb: "listTools", inFlight: 1 },
];

export async function run({ quick }) {
  const [server] = await startAll([{ name: "server", file: "contenders/http-answers", required: true }]);
  try {
    const url = `http://127.0.0.1:${server.port}${server.path}`;
    const command = onCore([process.execPath, contender("contenders/stdio-answers")]);
    return [
      ...(await measureAll("HTTP", HTTP, { url }, quick)),
      ...(await measureAll("stdio", STDIO, { command }, quick)),
    ];
  } finally {
    await stopAll([server]);
  }
}

async function measureAll(transport, contenders, target, quick) {
  let clients = [];
  const rows = [];
  try {
    for (const each of contenders.filter(({ full }) => !(quick && full))) {
      // A peer may print a warning with every call.
      const stderr = each.required ? "inherit" : "ignore";
      const how = { core: "load", stderr, options: { client: each.client, target } };
      const child = start(contender("contenders/client-run"), how);
      clients.push({ ...each, child });
      await nextMessage(child, 20_000);
    }
    for (const { verb, inFlight } of CASES.filter((each) => !quick || each.quick)) {
      const samples = await takeTurns(clients, quick ? 3 : 5, ({ child }) =>
        measure(child, { verb, inFlight, ms: 500 }),
      );
      rows.push(...rowsOf(`${transport}, ${verb}, ${inFlight} in flight`, samples));
      // One that was left out may still be busy with what it was asked.
      const left = clients.filter(({ name }) => !samples.has(name));
      await Promise.all(left.map(({ child }) => stop(child)));
      clients = clients.filter(({ name }) => samples.has(name));
    }
  } finally {
    await Promise.all(clients.map(({ child }) => stop(child)));
  }
  return rows;
}

async function measure(child, message) {
  const before = cpuMicros(child.pid);
  const { calls, seconds } = await ask(child, message, 15_000);
  const after = cpuMicros(child.pid);
  return {
    "calls/s": calls / seconds,
    "µs CPU/call": before === undefined ? undefined : (after - before) / calls,
  };
}
