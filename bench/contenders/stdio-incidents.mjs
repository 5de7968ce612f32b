/** The incident log, with SQLite, as its command runs it. */
import { main } from "incidents-mcp/dist/index.js";

await main(process.argv.slice(2));
