/** Servers over HTTP that are under measurement: started, asked, and their processor time read. */
import { EARLIER_HEADERS, earlierRequest, headersOf, request } from "../message.mjs";
import { load, post } from "./http-load.mjs";
import { contender, cpuMicros, nextMessage, start, stop } from "./processes.mjs";
import { percentile } from "./table.mjs";

/** Starts all contenders; each becomes `{ ...contender, child, port, path }`. Those that do not start are left out. */
export async function startAll(contenders, how = {}) {
  const started = [];
  for (const each of contenders) {
    const child = start(contender(each.file), how);
    child.stdout.pipe(process.stderr);
    try {
      started.push({ ...each, child, ...(await nextMessage(child)) });
    } catch (error) {
      await stop(child);
      if (each.required) throw error;
      process.stderr.write(`bench: ${each.name} is left out: ${error.message}\n`);
    }
  }
  return started;
}

export const stopAll = (servers) => Promise.all(servers.map(({ child }) => stop(child)));

/** One request as bytes, in the words of the era that a server speaks. */
export function bytesFor({ port, path, earlier, version }, method, params, id = 1) {
  const message = earlier ? earlierRequest(id, method, params) : request(id, method, params);
  const headers = earlier ? { ...EARLIER_HEADERS } : headersOf(message);
  if (version !== undefined) headers["mcp-protocol-version"] = version;
  return post({ port, path, headers, body: JSON.stringify(message) });
}

/** Loads one server with one request for a while. */
export async function measure(server, { method = "tools/call", params, connections, ms }) {
  const bytes = bytesFor(server, method, params);
  const before = cpuMicros(server.child.pid);
  const { requests, seconds, latencies } = await load({ port: server.port, bytes, connections, ms });
  const after = cpuMicros(server.child.pid);
  return {
    "requests/s": requests / seconds,
    "µs CPU/request": before === undefined ? undefined : (after - before) / requests,
    "ms p50": percentile(latencies, 0.5),
    "ms p99": percentile(latencies, 0.99),
  };
}
