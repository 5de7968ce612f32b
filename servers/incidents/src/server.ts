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
import type { IncidentChange, IncidentStore, IncidentsOfTenant } from "./store.js";
import { READ, tenantOf } from "./tenant.js";
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
  const bus = changesOf(store);
  const server = createServer({ ...options, name, version, title: "Incident log", bus, tenantOf });
  addTools(server, store);
  addResources(server, store);
  addPrompt(server, store);
  return server;
}

function addResources(server: Server, store: IncidentStore): void {
  const mimeType = "application/json";
  server.resource(
    OPEN_URI,
    {
      name: "open-incidents",
      title: "Open incidents",
      description: "What is open, newest first.",
      mimeType,
      scopes: [READ],
    },
    async ({ auth }) => {
      const log = store.of(tenantOf(auth));
      const [total, { incidents }] = await told(
        Promise.all([log.countOpen(), log.search({ state: "open", limit: MAX_OPEN_LISTED })]),
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
      scopes: [READ],
      complete: { id: (typed, { auth }) => openHandles(store.of(tenantOf(auth)), typed) },
    },
    async ({ id }, { auth }, uri) => {
      const number = numberOf(String(id));
      // One incident has one URI: updates are announced under that spelling.
      if (number === undefined || uri !== uriOf(number)) return undefined;
      const incident = await told(store.of(tenantOf(auth)).find(number));
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
      scopes: [READ],
      complete: { id: (typed, { auth }) => openHandles(store.of(tenantOf(auth)), typed) },
    },
    async ({ id }, { auth }) => {
      const incident = await existing(store.of(tenantOf(auth)), id).catch((error: unknown) => {
        throw error instanceof ToolError ? new ProtocolError(ErrorCode.InvalidParams, error.message) : error;
      });
      return postmortem(recordOf(incident));
    },
  );
}

/** Handles of open incidents that begin with what was typed, in either case, newest first; digits alone will do. */
async function openHandles(log: IncidentsOfTenant, typed: string): Promise<string[]> {
  const digits = /^(?:i|in|inc|inc-)?(\d*)$/i.exec(typed.trim())?.[1];
  if (digits === undefined) return [];
  return (await told(log.openNumbers(digits, MAX_OPEN_OFFERED))).map(handleOf);
}

/** A bus that carries what the store notices, for as long as anybody listens, to subscribers of the tenant. */
function changesOf(store: IncidentStore): ChangeBus {
  const bus = memoryBus();
  const announce = (changes: readonly IncidentChange[]): void => {
    for (const { number, tenant } of changes) bus.publish({ kind: "resource", uri: uriOf(number), tenant });
    for (const tenant of new Set(changes.map((change) => change.tenant))) {
      bus.publish({ kind: "resource", uri: OPEN_URI, tenant });
    }
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
