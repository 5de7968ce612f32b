/** Messages a second over stdio, beside a bare echo of lines that writes each answer by itself. */
import { forRun, STDIO_SERVERS } from "../contenders.mjs";
import { greet, linesFor, loadLines } from "../measure/lines-load.mjs";
import { contender, cpuMicros, start, stop } from "../measure/processes.mjs";
import { rowsOf, takeTurns } from "../measure/rounds.mjs";

export const title = "stdio, tools/call with an answer of the same length";

const CASES = [
  { name: "200 B, 1 in flight", characters: 200, inFlight: 1, quick: true, allNodes: true },
  { name: "200 B, 16 in flight", characters: 200, inFlight: 16, quick: true, allNodes: true },
  { name: "200 B, 256 in flight", characters: 200, inFlight: 256, quick: true, allNodes: true },
  { name: "100 kB, 1 in flight", characters: 100_000, inFlight: 1 },
  { name: "100 kB, 16 in flight", characters: 100_000, inFlight: 16 },
  { name: "8 MB, 1 in flight", characters: 8_000_000, inFlight: 1, quick: true },
];

export async function run({ quick, nodes }) {
  const rows = [];
  for (const { name: version, binary, isCurrent } of nodes) {
    const servers = forRun(STDIO_SERVERS, quick).map((each) => ({
      ...each,
      child: start(contender(each.file), { node: binary, args: each.args, ipc: false }),
    }));
    try {
      for (const server of servers) await greet(server);
      const cases = CASES.filter((each) => (isCurrent ? !quick || each.quick : each.allNodes));
      for (const { name, characters, inFlight } of cases) {
        const samples = await takeTurns(servers, quick ? 3 : 5, (server) =>
          measure(server, characters, inFlight, quick ? 400 : 1_000),
        );
        rows.push(...rowsOf(isCurrent ? name : `${name}, ${version}`, samples));
      }
    } finally {
      await Promise.all(servers.map(({ child }) => stop(child)));
    }
  }
  return rows;
}

async function measure(server, characters, inFlight, ms) {
  const params = { name: "echo", arguments: { text: "x".repeat(characters) } };
  const lines = linesFor(server, "tools/call", params, characters > 1_000_000 ? 2 : 4 * inFlight);
  const before = cpuMicros(server.child.pid);
  const { messages, seconds } = await loadLines(server, lines, inFlight, ms);
  const after = cpuMicros(server.child.pid);
  return {
    "messages/s": messages / seconds,
    "µs CPU/message": before === undefined ? undefined : (after - before) / messages,
  };
}
