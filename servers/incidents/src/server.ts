/** The incident log as an MCP server: three tools, two kinds of resources, one prompt. */
import {
  type ChangeBus,
  createServer,
  ErrorCode,
  memoryBus,
  type OnError,
  ProtocolError,
  type Server,
  ToolError,
} from "mica-mcp";
import { z } from "zod";
import manifest from "../package.json" with { type: "json" };
import { existing, told } from "./existing.js";
import { handleOf, numberOf, recordOf, rowOf, uriOf } from "./handle.js";
import { postmortem } from "./postmortem.js";
import type { IncidentStore } from "./store.js";
import { addTools } from "./tools.js";

/** URI of the list of what is open. */
const OPEN_URI = "incidents://open";
/** Incidents in that list; it also tells how many there are. */
const MAX_OPEN_LISTED = 100;
/** Handles that are looked up for completion; the protocol passes on the first hundred, and how many there were. */
const MAX_OPEN_OFFERED = 1000;

export interface IncidentServerOptions {
  /** Receives every failure that is concealed from callers. Default: stderr. */
  readonly onError?: OnError;
}

/**
 * Makes the server of an incident log. The store stays the caller's to close.
 *
 * @example serveStdio(createIncidentServer(openSqliteStore("incidents.sqlite")));
 */
export function createIncidentServer(store: IncidentStore, options: IncidentServerOptions = {}): Server {
  const { name, version } = manifest;
  const server = createServer({ ...options, name, version, title: "Incident log", bus: changesOf(store) });
  addTools(server, store);
  addResources(server, store);
  addPrompt(server, store);
  return server;
}

function addResources(server: Server, store: IncidentStore): void {
  const mimeType = "application/json";
  server.resource(
    OPEN_URI,
    { name: "open-incidents", title: "Open incidents", description: "What is open, newest first.", mimeType },
    async () => {
      const [total, { incidents }] = await told(
        Promise.all([store.countOpen(), store.search({ state: "open", limit: MAX_OPEN_LISTED })]),
      );
      return { total, incidents: incidents.map(rowOf) };
    },
  );
  server.resourceTemplate(
    "incidents://{id}",
    {
      name: "incident",
      title: "Incident",
      description: "One incident by its handle.",
      mimeType,
      complete: { id: (typed) => openHandles(store, typed) },
    },
    async ({ id }, _ctx, uri) => {
      const number = numberOf(String(id));
      // One incident has one URI: updates are announced under that spelling.
      if (number === undefined || uri !== uriOf(number)) return undefined;
      const incident = await told(store.find(number));
      return incident && recordOf(incident);
    },
  );
}

function addPrompt(server: Server, store: IncidentStore): void {
  server.prompt(
    "postmortem",
    {
      title: "Postmortem",
      description: "Draft a blameless postmortem of an incident.",
      input: z.object({ id: z.string().describe("Handle of the incident, e.g. INC-3") }),
      complete: { id: (typed) => openHandles(store, typed) },
    },
    async ({ id }) => {
      const incident = await existing(store, id).catch((error: unknown) => {
        throw error instanceof ToolError ? new ProtocolError(ErrorCode.InvalidParams, error.message) : error;
      });
      return postmortem(recordOf(incident));
    },
  );
}

/** Handles of open incidents that begin with what was typed, in either case, newest first; digits alone will do. */
async function openHandles(store: IncidentStore, typed: string): Promise<string[]> {
  const digits = /^(?:i|in|inc|inc-)?(\d*)$/i.exec(typed.trim())?.[1];
  if (digits === undefined) return [];
  return (await told(store.openNumbers(digits, MAX_OPEN_OFFERED))).map(handleOf);
}

/** A bus that carries what the store notices, for as long as anybody listens. */
function changesOf(store: IncidentStore): ChangeBus {
  const bus = memoryBus();
  const announce = (numbers: readonly number[]): void => {
    for (const number of numbers) bus.publish({ kind: "resource", uri: uriOf(number) });
    bus.publish({ kind: "resource", uri: OPEN_URI });
  };
  return {
    publish: bus.publish,
    subscribe(listener) {
      const stop = store.watch(announce);
      const leave = bus.subscribe(listener);
      return () => {
        stop();
        leave();
      };
    },
  };
}
