/** The official SDK over HTTP as its documentation shows it: everything is made in the factory, for every request. */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createOfficial } from "./official-server.mjs";
import { serve } from "./serve.mjs";

const server = createServer(toNodeHandler(createMcpHandler(() => createOfficial())));
server.listen(0, "127.0.0.1", () => serve(server.address().port));
