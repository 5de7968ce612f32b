#!/usr/bin/env node
/** The command `incidents-mcp`. */
import { main } from "./main.js";

await main(process.argv.slice(2));
