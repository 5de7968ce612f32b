/** The command `incidents-mcp`: its names, and what it serves. */

import { type Announce, runServerCommand, type ServerCommand } from "../../kit/command.js";
import manifest from "../package.json" with { type: "json" };

const INCIDENTS: ServerCommand = {
  command: "incidents-mcp",
  version: manifest.version,
  title: "Incident log",
  serves: "an incident log",
  noun: "log",
  databaseFile: "incidents.sqlite",
  databaseVariable: "INCIDENTS_DATABASE",
  port: 8931,
  exampleHost: "incidents.example.com",
  authenticates: true,
  async open(database) {
    const [{ createIncidentServer }, { openSqliteStore }] = await Promise.all([
      import("./server.js"),
      import("./sqlite-store.js"),
    ]);
    const store = openSqliteStore(database);
    return { server: createIncidentServer(store), close: () => store.close() };
  },
  async authorize(choice) {
    const { authorize } = await import("./authorization.js");
    return authorize(choice);
  },
};

/**
 * Runs the command. What is wrong goes to stderr in one line; the exit code is then 1, or 2 for a wrong command line.
 *
 * @param argv without the names of Node and of the script
 * @param announce makes the lines to print over HTTP. Default: the address, the file, and what to do next
 * @example await main(["--http", "127.0.0.1:0", "--database", "incidents.sqlite"]);
 */
export function main(argv: readonly string[], announce?: Announce): Promise<void> {
  return runServerCommand(INCIDENTS, argv, announce);
}
