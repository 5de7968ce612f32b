/** Memory: of an idle server, what requests leave behind, and what a quiet subscription holds. */
import { connect } from "node:net";
import { forRun, HTTP_SERVERS, STDIO_SERVERS } from "../contenders.mjs";
import { load } from "../measure/http-load.mjs";
import { bytesFor, startAll, stopAll } from "../measure/http-server.mjs";
import { askLine, greet } from "../measure/lines-load.mjs";
import { ask, contender, residentBytes, start, stop } from "../measure/processes.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";
import { earlierRequest, request } from "../message.mjs";

export const title = "Memory";

/** Subscriptions that are opened before those that are weighed. */
const FIRST = 200;

export async function run({ quick }) {
  return [...(await idle(quick)), ...(await afterRequests(quick)), ...(await perSubscription(quick))];
}

/** Resident memory of a server on stdio after its first answer. */
async function idle(quick) {
  const plain = { name: "mica, JSON Schema", file: "contenders/stdio-mica-schema", required: true };
  const [echo, , ...others] = forRun(STDIO_SERVERS, quick);
  const samples = await takeTurns([echo, plain, ...others], quick ? 3 : 7, async ({ file, earlier }) => {
    const child = start(contender(file), { ipc: false });
    try {
      await greet({ child, earlier });
      const list = earlier ? earlierRequest(1, "tools/list", {}) : request(1, "tools/list", {});
      // The echo has nothing to list and answers all the same.
      await askLine(child, list);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { "MB resident": residentBytes(child.pid) / 1e6 };
    } finally {
      await stop(child);
    }
  });
  return rowsOf("idle on stdio", samples);
}

/** What stays on the heap after many requests. The first ones fill caches and compile code: they do not count. */
async function afterRequests(quick) {
  const count = quick ? 100_000 : 1_000_000;
  const warmUp = 50_000;
  const contenders = HTTP_SERVERS.filter(({ required }) => required);
  const servers = await startAll(contenders, { flags: ["--expose-gc"] });
  const samples = new Map();
  try {
    for (const server of servers) {
      const bytes = bytesFor(server, "tools/call", { name: "echo", arguments: { text: "hello", times: 2 } });
      const heap = async () => (await ask(server.child, "memory")).heapUsed;
      await load({ port: server.port, bytes, connections: 16, requests: warmUp });
      const before = await heap();
      await load({ port: server.port, bytes, connections: 16, requests: count });
      samples.set(server.name, [{ "kB of heap more": ((await heap()) - before) / 1e3 }]);
    }
  } finally {
    await stopAll(servers);
  }
  return rowsOf(`after ${count.toLocaleString("en-US")} requests`, samples);
}

/** What a server holds for each of many open subscriptions, beside open event streams of bare node:http. */
async function perSubscription(quick) {
  const count = quick ? 2_000 : 10_000;
  const contenders = HTTP_SERVERS.filter(({ required }) => required);
  const servers = await startAll(contenders, { flags: ["--expose-gc"] });
  const samples = new Map();
  try {
    for (const server of servers) {
      const memory = async () => {
        const { heapUsed, external } = await ask(server.child, "memory");
        return { heap: heapUsed + external, resident: residentBytes(server.child.pid) };
      };
      // The first subscriptions compile what the others use. A server holds 10,000 of them unless told otherwise.
      const few = await subscribe(server, FIRST);
      const before = await memory();
      const many = await subscribe(server, count - FIRST);
      const after = await memory();
      for (const socket of [...few, ...many]) socket.destroy();
      samples.set(server.name, [
        {
          "kB resident each": (after.resident - before.resident) / many.length / 1e3,
          "kB of heap each": (after.heap - before.heap) / many.length / 1e3,
        },
      ]);
    }
  } finally {
    await stopAll(servers);
  }
  return rowsOf(`${count.toLocaleString("en-US")} open subscriptions`, samples);
}

/** Opens subscriptions, at most a hundred at a time, and resolves to their sockets once all are acknowledged. */
async function subscribe(server, count) {
  const bytes = bytesFor(server, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  const sockets = [];
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect(server.port, "127.0.0.1", () => socket.write(bytes));
      let said = "";
      const onData = (data) => {
        said += data;
        if (!said.includes("acknowledged")) {
          if (said.includes('"error"') || (said.length > 8 && !said.startsWith("HTTP/1.1 200"))) {
            reject(new Error(`no subscription: ${said}`));
          }
          return;
        }
        socket.off("data", onData);
        socket.resume();
        sockets.push(socket);
        resolve();
      };
      socket.on("data", onData);
      socket.on("error", reject);
    });
  for (let opened = 0; opened < count; opened += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - opened) }, one));
  }
  return sockets;
}
