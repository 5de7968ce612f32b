/** The incident log, with SQLite, as its command runs it. */
import { main } from "incidents-mcp";

await main(process.argv.slice(2));
