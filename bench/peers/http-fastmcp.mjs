/** fastmcp over HTTP without sessions. It takes no free port by itself, so one is found for it. */
import { createServer } from "node:net";
import { serve } from "../contenders/serve.mjs";
import { server } from "./fastmcp-server.mjs";

const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
await server.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1", stateless: true } });
serve(port);
