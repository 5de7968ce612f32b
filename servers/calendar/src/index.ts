/** `calendar-mcp` as a library: the server, its store, and the command itself. */
export { StoreError } from "../../kit/store-error.js";
export { main } from "./main.js";
export { type CalendarOptions, createCalendar } from "./server.js";
export {
  type CalendarEvent,
  type ChangedDay,
  type EventStore,
  openStore,
  type StoreOptions,
} from "./store.js";
