/** `tools/call` over HTTP: requests a second and processor time a request, beside a bare node:http server. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { load } from "../load.mjs";
import { HEADERS, request } from "../message.mjs";
import { median, spread } from "../table.mjs";

export const title = "tools/call over HTTP, 16 connections (JSON answer)";

const FLOOR = "raw node:http";
const contenders = {
  [FLOOR]: "http-raw",
  mica: "http-mica",
  "official server 2.4, best case": "http-official",
};

export async function run({ quick }) {
  const rounds = quick ? 3 : 7;
  const ms = quick ? 700 : 2000;
  const servers = {};
  try {
    for (const [name, file] of Object.entries(contenders)) servers[name] = await start(file);
    const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
    for (let round = -1; round < rounds; round++) {
      for (const [name, server] of Object.entries(servers)) {
        const sample = await measure(server, ms);
        if (round >= 0) samples[name].push(sample);
      }
    }
    return Object.entries(samples).flatMap(([contender, found]) => rowsOf(contender, found, samples[FLOOR]));
  } finally {
    for (const { child } of Object.values(servers)) child.disconnect();
  }
}

async function start(file) {
  const child = fork(fileURLToPath(new URL(`../contenders/${file}.mjs`, import.meta.url)), {
    stdio: "inherit",
  });
  const [{ port }] = await once(child, "message");
  return { child, port };
}

async function usage({ child }) {
  child.send("usage");
  const [answer] = await once(child, "message");
  return answer.cpuMicros;
}

async function measure(server, ms) {
  const before = await usage(server);
  const body = JSON.stringify(request(1));
  const { requests, seconds, latencies } = await load({
    port: server.port,
    headers: HEADERS,
    body,
    connections: 16,
    ms,
  });
  const cpu = ((await usage(server)) - before) / requests;
  return { rate: requests / seconds, cpu, p99: latencies[Math.floor(latencies.length * 0.99)] };
}

function rowsOf(contender, samples, floor) {
  const row = (unit, key) => {
    const values = samples.map((sample) => sample[key]);
    const ratio = median(values) / median(floor.map((sample) => sample[key]));
    return {
      case: key,
      contender,
      value: median(values),
      spread: spread(values),
      unit,
      ratio: ratio.toFixed(2),
    };
  };
  return [row("requests/s", "rate"), row("µs CPU/request", "cpu"), row("ms p99", "p99")];
}
