/** What becomes slower as things grow: an incident log of a hundred to a million incidents, a server of one to 10,000 tools. */
import { rmSync } from "node:fs";
import { createIncidentServer, openSqliteStore } from "incidents-mcp";
import { memoryTransport } from "mica-mcp/testing";
import { cache } from "../measure/bundles.mjs";
import { measure, startAll, stopAll } from "../measure/http-server.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";
import { percentile } from "../measure/table.mjs";
import { request } from "../message.mjs";

export const title = "Growth";

const database = `${cache}/growth.sqlite`;
/** Words of titles and descriptions: the first are in many, the last in few, as in any language. */
const WORDS = Array.from({ length: 4_000 }, (_, at) => `word${at.toString(36)}`);
const SEVERITIES = ["sev1", "sev2", "sev3", "sev4"];

/** There is no floor here: ratios are to the smallest. */
export async function run({ quick }) {
  const sizes = quick ? [100, 1_000, 10_000] : [100, 1_000, 10_000, 100_000, 1_000_000];
  return [...(await incidents(sizes, quick ? 100 : 500)), ...(await tools(quick))];
}

async function incidents(sizes, repeats) {
  removeDatabase();
  const store = openSqliteStore(database);
  const transport = memoryTransport(createIncidentServer(store));
  const random = generator(1);
  const found = new Map();
  try {
    let filled = 0;
    for (const size of sizes) {
      for (; filled < size; filled++) await fill(store.of(""), random, filled);
      for (const [name, ask] of Object.entries(asks(random, () => filled++))) {
        const row = await timed(transport, ask, repeats);
        const bySize = found.get(name) ?? new Map();
        bySize.set(`${size.toLocaleString("en-US")} incidents`, [row]);
        found.set(name, bySize);
      }
    }
  } finally {
    await store.close();
    removeDatabase();
  }
  return [...found].flatMap(([name, samples]) => rowsOf(name, samples));
}

/** A third stays open. */
async function fill(store, random, at) {
  const { number } = await store.open({
    title: words(random, 5),
    severity: SEVERITIES[at % 4],
    description: words(random, 20),
  });
  if (at % 3 !== 0) await store.resolve(number, words(random, 8));
}

const asks = (random, count) => ({
  "search, two words": () => call("search_incidents", { text: words(random, 2) }),
  "search, a common word, open": () => call("search_incidents", { text: WORDS[0], state: "open" }),
  "search, a beginning that every word has": () => call("search_incidents", { text: "wor*" }),
  "search, a word that is nowhere": () => call("search_incidents", { text: "nowhere" }),
  "search, the newest": () => call("search_incidents", {}),
  open: () => {
    count();
    return call("open_incident", { title: words(random, 5), severity: "sev3" });
  },
  "list what is open": () => ["resources/read", { uri: "incidents://open" }],
});

const call = (name, args) => ["tools/call", { name, arguments: args }];

async function timed(transport, ask, repeats) {
  const times = [];
  for (let at = -5; at < repeats; at++) {
    const message = request(at + 100, ...ask());
    const began = performance.now();
    const { result, error } = await transport.exchange(message);
    if (at >= 0) times.push(performance.now() - began);
    if (error !== undefined || result.isError) throw new Error(JSON.stringify(error ?? result));
  }
  times.sort((a, b) => a - b);
  return { "ms p50": percentile(times, 0.5), "ms p99": percentile(times, 0.99) };
}

/** A page of `tools/list`, and a call, beside those of a server with one page of tools. */
async function tools(quick) {
  const sizes = quick ? [500, 10_000] : [500, 3, 100, 1_000, 10_000];
  const servers = [];
  try {
    for (const tools of sizes) {
      const name = `${tools.toLocaleString("en-US")} tools`;
      const each = { name, file: "contenders/http-mica", required: true };
      servers.push(...(await startAll([each], { options: { tools } })));
    }
    const rows = [];
    const cases = {
      "tools/list, one page": { method: "tools/list", params: {}, connections: 4 },
      "tools/call": { params: { name: "echo", arguments: { text: "hello" } }, connections: 16 },
    };
    for (const [name, each] of Object.entries(cases)) {
      const samples = await takeTurns(servers, quick ? 3 : 5, async (server) => {
        const { "requests/s": rate, "µs CPU/request": cpu } = await measure(server, { ...each, ms: 500 });
        return { "requests/s": rate, "µs CPU/request": cpu };
      });
      rows.push(...rowsOf(name, samples));
    }
    return rows;
  } finally {
    await stopAll(servers);
  }
}

function words(random, count) {
  return Array.from({ length: count }, () => WORDS[Math.floor(WORDS.length * random() ** 3)]).join(" ");
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function removeDatabase() {
  for (const end of ["", "-shm", "-wal"]) rmSync(`${database}${end}`, { force: true });
}
