/** The official SDK over stdio, with zod as its documentation shows. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createOfficial } from "./official-server.mjs";

serveStdio(() => createOfficial());
