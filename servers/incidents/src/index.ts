/** `incidents-mcp` as a library: the server over any store, the SQLite store, and the command itself. */
export type { Announce } from "../../kit/command.js";
export { main } from "./main.js";
export { createIncidentServer, type IncidentServerOptions } from "./server.js";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite-store.js";
export {
  type Incident,
  type IncidentChange,
  type IncidentPage,
  type IncidentQuery,
  type IncidentState,
  type IncidentStore,
  type IncidentsOfTenant,
  type NewIncident,
  type Severity,
  StoreError,
} from "./store.js";
