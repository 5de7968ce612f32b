/** Mica's client. */
import { connect } from "mica-mcp/client";

export async function open({ url, command }) {
  const [file, ...args] = command ?? [];
  const client = await connect(url ?? { command: file, args }, { name: "bench", version: "1.0.0" });
  return {
    callTool: (name, args) => client.callTool(name, args),
    readResource: (uri) => client.readResource(uri),
    listTools: () => client.listTools(),
    close: () => client.close(),
  };
}
