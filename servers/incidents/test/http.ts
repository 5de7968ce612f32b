/** Requests of the current revision over HTTP by hand, and what comes back. */

const VERSION = "2026-07-28";

export interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly json: {
    readonly id?: unknown;
    readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
    readonly error?: { readonly code: number; readonly message: string };
  };
}

export async function callTool(
  url: string,
  name: string,
  args: Record<string, unknown>,
  token?: string,
): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": "tools/call",
      "mcp-name": name,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name,
        arguments: args,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": VERSION,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate"),
    json: (await response.json()) as Answer["json"],
  };
}
