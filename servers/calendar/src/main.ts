/** The command `calendar-mcp`: its names, and what it serves. */

import { runServerCommand, type ServerCommand } from "../../kit/command.js";
import manifest from "../package.json" with { type: "json" };

const CALENDAR: ServerCommand = {
  command: "calendar-mcp",
  version: manifest.version,
  title: "Calendar",
  serves: "a calendar",
  noun: "calendar",
  databaseFile: "calendar.sqlite",
  databaseVariable: "CALENDAR_DATABASE",
  port: 8932,
  exampleHost: "calendar.example.com",
  async open(database) {
    const [{ createCalendar }, { openStore }] = await Promise.all([
      import("./server.js"),
      import("./store.js"),
    ]);
    const store = openStore(database);
    return {
      server: createCalendar({ store, version: manifest.version }),
      close: () => store.close(),
    };
  },
};

/**
 * Runs the command. What is wrong goes to stderr in one line; the exit code is then 1, or 2 for a wrong command line.
 *
 * @param argv without the names of Node and of the script
 * @example await main(["--http", "127.0.0.1:0", "--database", "calendar.sqlite"]);
 */
export function main(argv: readonly string[]): Promise<void> {
  return runServerCommand(CALENDAR, argv);
}
