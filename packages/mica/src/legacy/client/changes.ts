/**
 * Subscriptions of the current revision (patterns/subscriptions) on a session: what it is told of anyway, sorted out by
 * what each of them asked for, and `resources/subscribe` for the resources of all of them together.
 */

import type { McpError } from "../../protocol/errors.js";
import type { SubscriptionFilter } from "../../protocol/features.js";
import { isErrorResponse, isObject } from "../../protocol/jsonrpc.js";
import { MetaKey } from "../../protocol/meta.js";
import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  ServerCapabilities,
} from "../../protocol/types.js";
import type { ClientExchangeOptions } from "../../transport.js";
import { type Attendant, attend } from "./attendant.js";
import type { Hold } from "./clocks.js";
import { reaches } from "./log-level.js";
import type { Pending } from "./pending.js";
import { logLevelOf } from "./requests.js";

export interface Changes {
  /** Stays open until its caller goes away, or the session ends. */
  listen(request: JSONRPCRequest, options: ClientExchangeOptions): Promise<JSONRPCResponse>;
  /** A notification of a change. Says whether it is one. */
  notify(notification: JSONRPCNotification): boolean;
  /** A log message that no request takes. */
  log(notification: JSONRPCNotification): void;
  fail(why: (request: JSONRPCRequest) => McpError): void;
}

type Flag = Exclude<keyof SubscriptionFilter, "resourceSubscriptions">;

const LISTS = new Map<string, Flag>([
  ["notifications/tools/list_changed", "toolsListChanged"],
  ["notifications/prompts/list_changed", "promptsListChanged"],
  ["notifications/resources/list_changed", "resourcesListChanged"],
]);
const UPDATED = "notifications/resources/updated";

interface Listening {
  readonly attendant: Attendant;
  readonly uris: Set<string>;
  agreed: SubscriptionFilter;
  /** What came before the subscription was acknowledged; undefined since. */
  early: JSONRPCNotification[] | undefined;
}

export function createChanges(pending: Pending, capabilities: ServerCapabilities): Changes {
  const { tools, prompts, resources } = capabilities;
  const open = new Set<Listening>();
  /** How many want each resource, and whether the server has taken it on. */
  const subscribed = new Map<string, { count: number; isTaken: Promise<boolean> }>();
  /** Of one resource, so that what was asked last holds. */
  const turns = new Map<string, Promise<unknown>>();

  function inTurn<T>(uri: string, work: () => Promise<T>): Promise<T> {
    const turn = (turns.get(uri) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => {});
    turns.set(uri, settled);
    void settled.then(() => turns.get(uri) === settled && turns.delete(uri));
    return turn;
  }

  function subscribe(uri: string, hold: Hold | undefined): Promise<boolean> {
    const known = subscribed.get(uri);
    if (known) known.count++;
    const entry = known ?? {
      count: 1,
      isTaken: inTurn(uri, async () => {
        return !isErrorResponse(await pending.send("resources/subscribe", { uri }, hold).response);
      }),
    };
    subscribed.set(uri, entry);
    return entry.isTaken;
  }

  function unsubscribe(uri: string): void {
    const entry = subscribed.get(uri);
    if (entry === undefined || --entry.count > 0) return;
    subscribed.delete(uri);
    const stop = async () => {
      if (await entry.isTaken) await pending.send("resources/unsubscribe", { uri }).response;
    };
    inTurn(uri, stop).catch(() => {});
  }

  function leave(listening: Listening): void {
    if (!open.delete(listening)) return;
    for (const uri of listening.uris) unsubscribe(uri);
  }

  function deliver({ attendant, early }: Listening, notification: JSONRPCNotification): void {
    const { params } = notification;
    const meta = isObject(params?.["_meta"]) ? params["_meta"] : {};
    const _meta = { ...meta, [MetaKey.subscriptionId]: attendant.request.id };
    const tagged = { ...notification, params: { ...params, _meta } };
    if (early) early.push(tagged);
    else attendant.notify(tagged);
  }

  /** Takes on what can be had, and says so before anything else. */
  async function begin(
    listening: Listening,
    asked: SubscriptionFilter,
    hold: Hold | undefined,
  ): Promise<void> {
    const wanted = resources?.subscribe ? new Set(strings(asked.resourceSubscriptions)) : new Set<string>();
    const taken = await Promise.all(
      [...wanted].map(async (uri) => {
        listening.uris.add(uri);
        if (await subscribe(uri, hold)) return [uri];
        listening.uris.delete(uri);
        unsubscribe(uri);
        return [];
      }),
    );
    if (!open.has(listening)) return;
    const { agreed, early = [], attendant } = listening;
    if (asked.resourceSubscriptions !== undefined) agreed.resourceSubscriptions = taken.flat();
    listening.early = undefined;
    deliver(listening, {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: agreed },
    });
    for (const notification of early) attendant.notify(notification);
  }

  return {
    listen(request, options) {
      const given = request.params?.["notifications"];
      const asked: SubscriptionFilter = isObject(given) ? given : {};
      const attendant = attend(request, options, () => leave(listening));
      const listening: Listening = {
        attendant,
        uris: new Set(),
        early: [],
        agreed: {
          ...(asked.toolsListChanged && tools?.listChanged && { toolsListChanged: true }),
          ...(asked.promptsListChanged && prompts?.listChanged && { promptsListChanged: true }),
          ...(asked.resourcesListChanged && resources?.listChanged && { resourcesListChanged: true }),
        },
      };
      open.add(listening);
      begin(listening, asked, options.hold).catch((error: unknown) => {
        leave(listening);
        attendant.reject(error);
      });
      return attendant.answer;
    },
    notify(notification) {
      const flag = LISTS.get(notification.method);
      if (flag !== undefined) {
        for (const listening of open) if (listening.agreed[flag]) deliver(listening, notification);
        return true;
      }
      if (notification.method !== UPDATED) return false;
      const uri = String(notification.params?.["uri"]);
      for (const listening of concerned(open, uri)) deliver(listening, notification);
      return true;
    },
    log(notification) {
      for (const { attendant } of open) {
        const asked = logLevelOf(attendant.request);
        if (asked && reaches(notification.params?.["level"], asked)) attendant.notify(notification);
      }
    },
    fail(why) {
      for (const { attendant } of open) attendant.reject(why(attendant.request));
      open.clear();
      subscribed.clear();
    },
  };
}

/** Who subscribed to a resource; where nobody did to exactly that one, who subscribed to what it is a part of. */
function concerned(open: Iterable<Listening>, uri: string): Listening[] {
  const interested = [...open].filter(({ uris }) => uris.size > 0);
  const exactly = interested.filter(({ uris }) => uris.has(uri));
  if (exactly.length > 0) return exactly;
  return interested.filter(({ uris }) => [...uris].some((whole) => uri.startsWith(whole)));
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
