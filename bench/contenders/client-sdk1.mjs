/** The client of the official SDK, first line. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export async function open({ url, command }) {
  const [file, ...args] = command ?? [];
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(
    url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command: file, args }),
  );
  return {
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    readResource: (uri) => client.readResource({ uri }),
    listTools: () => client.listTools(),
    close: () => client.close(),
  };
}
