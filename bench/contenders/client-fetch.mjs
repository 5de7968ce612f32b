/** Clients that use the built-in fetch: one call, one JSON.stringify, one JSON.parse. */
import { headersOf, request } from "../message.mjs";

export async function open({ url }) {
  let lastId = 0;
  const call = async (method, params) => {
    const message = request(++lastId, method, params);
    const response = await fetch(url, {
      method: "POST",
      headers: headersOf(message),
      body: JSON.stringify(message),
    });
    return (await response.json()).result;
  };
  return {
    callTool: (name, args) => call("tools/call", { name, arguments: args }),
    readResource: (uri) => call("resources/read", { uri }),
    listTools: () => call("tools/list", {}),
    close() {},
  };
}
