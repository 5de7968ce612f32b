/** Requests a second over HTTP, processor time and latency, beside a bare node:http server. */
import { forRun, HTTP_SERVERS } from "../contenders.mjs";
import { measure, startAll, stopAll } from "../measure/http-server.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";

export const title = "HTTP";

const call = { name: "echo", arguments: { text: "hello", times: 2, loud: true } };
const argumentsOf = (characters) => ({ name: "length", arguments: { text: "x".repeat(characters) } });
const withProgress = { name: "work", arguments: {}, _meta: { progressToken: 1 } };

/** `all`: every contender, in more rounds; the other cases are measured of those that matter most. */
const CASES = [
  { name: "JSON, 16 connections", connections: 16, params: call, quick: true, all: true, allNodes: true },
  { name: "JSON, 1 connection", connections: 1, params: call },
  { name: "JSON, 256 connections", connections: 256, params: call },
  { name: "SSE with 3 progress, 16 connections", connections: 16, params: withProgress, all: true },
  { name: "arguments of 100 B", connections: 16, params: argumentsOf(100) },
  { name: "arguments of 10 kB", connections: 16, params: argumentsOf(10_000) },
  { name: "arguments of 100 kB", connections: 16, params: argumentsOf(100_000) },
  { name: "arguments of 1 MB", connections: 16, params: argumentsOf(1_000_000) },
  { name: "100 tools", connections: 16, params: call, tools: 100 },
  { name: "1,000 tools", connections: 16, params: call, tools: 1_000 },
];

export async function run({ quick, nodes }) {
  const rows = [];
  for (const { name: version, binary, isCurrent } of nodes) {
    for (const tools of [undefined, 100, 1_000]) {
      const cases = CASES.filter(
        (each) => each.tools === tools && (isCurrent ? !quick || each.quick : each.allNodes),
      );
      if (cases.length === 0) continue;
      const servers = await startAll(forRun(HTTP_SERVERS, quick), { node: binary, options: { tools } });
      try {
        for (const { name, all, ...each } of cases) {
          const measured = all ? servers : servers.filter(({ full }) => !full);
          const samples = await takeTurns(measured, all ? 5 : 3, (server) =>
            measure(server, { ...each, ms: quick ? 600 : 1_000 }),
          );
          rows.push(...rowsOf(isCurrent ? name : `${name}, ${version}`, samples));
        }
      } finally {
        await stopAll(servers);
      }
    }
  }
  return rows;
}
