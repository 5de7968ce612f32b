/** Names of methods, for completing what somebody types. */
import { METHODS } from "mica-mcp/testing";

/** Of earlier revisions, of notifications that clients send, and of extensions. */
const FURTHER = [
  "initialize",
  "logging/setLevel",
  "notifications/cancelled",
  "notifications/initialized",
  "notifications/roots/list_changed",
  "ping",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/cancel",
  "tasks/get",
  "tasks/update",
];

export const METHOD_NAMES: readonly string[] = [...METHODS.keys(), ...FURTHER].sort();
