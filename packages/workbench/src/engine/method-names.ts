/** Names of methods, for completing what somebody types. */
import { METHODS } from "mica-mcp/testing";

/** Of earlier revisions, and of notifications that clients send. */
const FURTHER = [
  "initialize",
  "logging/setLevel",
  "notifications/cancelled",
  "notifications/initialized",
  "notifications/roots/list_changed",
  "ping",
  "resources/subscribe",
  "resources/unsubscribe",
];

export const METHOD_NAMES: readonly string[] = [...METHODS.keys(), ...FURTHER].sort();
