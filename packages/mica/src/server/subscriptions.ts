/** `subscriptions/listen`: who listens for what, and what is sent to whom (patterns/subscriptions). */
import type { ChangeBus, ChangeEvent } from "../bus/bus.js";
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import type { SubscriptionFilter } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { MetaKey, type RequestMeta } from "../protocol/meta.js";
import type { RequestId, Result } from "../protocol/types.js";
import type { AuthInfo, ServerExchange } from "../transport.js";
import { whenExpired } from "./expiry.js";
import type { Listening, ListenPart } from "./extension.js";

interface Subscription {
  readonly id: RequestId;
  /** Of extensions, once they send. */
  ends: (() => void)[];
  readonly exchange: ServerExchange;
  readonly filter: SubscriptionFilter;
  readonly tenant: string | undefined;
  end(): void;
}

/** What a server can be asked to report. */
export interface Listenable {
  tools: boolean;
  prompts: boolean;
  resources: boolean;
  /** Whether a URI is one of this server's resources. */
  isResource(uri: string): boolean;
}

export interface Subscriptions {
  /**
   * Serves one `subscriptions/listen`: resolves when the server ends it, the caller goes away, or the credential of the
   * caller ends.
   */
  listen(
    params: Record<string, unknown>,
    meta: RequestMeta,
    exchange: ServerExchange,
    id: RequestId,
  ): Promise<Result>;
  /** Ends all of them gracefully. */
  endAll(): void;
}

const NOTIFICATIONS = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const;

const FLAGS = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

export function createSubscriptions(
  bus: ChangeBus,
  listenable: () => Listenable,
  limits: { maxSubscriptions: number; maxSubscriptionUris: number },
  tenantOf: ((auth: AuthInfo | undefined) => string) | undefined,
  extensions: readonly ListenPart[],
): Subscriptions {
  const all = new Set<Subscription>();
  /** How often all of them have been ended. */
  let endings = 0;
  const byUri = new Map<string, Set<Subscription>>();
  let leaveBus: (() => void) | undefined;

  const deliver = (event: ChangeEvent) => {
    if (event.kind === "resource") {
      for (const subscription of byUri.get(event.uri) ?? []) {
        if (event.tenant !== undefined && event.tenant !== subscription.tenant) continue;
        send(subscription, "notifications/resources/updated", { uri: event.uri });
      }
      return;
    }
    if (event.kind === "task") return;
    for (const subscription of all) {
      if (subscription.filter[FLAGS[event.kind]]) send(subscription, NOTIFICATIONS[event.kind]);
    }
  };

  const add = (subscription: Subscription) => {
    all.add(subscription);
    for (const uri of subscription.filter.resourceSubscriptions ?? []) {
      const listeners = byUri.get(uri);
      if (listeners === undefined) byUri.set(uri, new Set([subscription]));
      else listeners.add(subscription);
    }
  };

  const remove = (subscription: Subscription) => {
    for (const end of subscription.ends) end();
    all.delete(subscription);
    for (const uri of subscription.filter.resourceSubscriptions ?? []) {
      const listeners = byUri.get(uri);
      listeners?.delete(subscription);
      if (listeners?.size === 0) byUri.delete(uri);
    }
    if (all.size > 0) return;
    leaveBus?.();
    leaveBus = undefined;
  };

  const checkRoom = () => {
    if (all.size < limits.maxSubscriptions) return;
    throw new ProtocolError(
      ErrorCode.InternalError,
      `Too many open subscriptions: the limit is ${limits.maxSubscriptions}`,
    );
  };

  return {
    async listen(params, meta, exchange, id) {
      checkRoom();
      const filter = agreedFilter(
        readFilter(params["notifications"], limits.maxSubscriptionUris),
        listenable(),
      );
      const tenant = tenantOf?.(exchange.auth);
      const begun = endings;
      const parts: Listening[] = [];
      for (const extension of extensions) {
        const part = await extension(params["notifications"] as Record<string, unknown>, meta, exchange);
        if (part === undefined) continue;
        parts.push(part);
        Object.assign(filter, part.agreed);
      }
      // Others may have come while extensions were reading.
      checkRoom();
      // Before there is a subscription: where the bus cannot be reached, none is left behind.
      leaveBus ??= bus.subscribe(deliver);
      return new Promise((resolve, reject) => {
        const end = () => {
          forgetExpiry();
          exchange.signal.removeEventListener("abort", end);
          remove(subscription);
          resolve({ _meta: { [MetaKey.subscriptionId]: id } });
        };
        const subscription: Subscription = { id, exchange, filter, tenant, end, ends: [] };
        // The acknowledgement comes first: nothing may reach the subscription before it.
        send(subscription, "notifications/subscriptions/acknowledged", { notifications: filter });
        add(subscription);
        const forgetExpiry = whenExpired(exchange.auth, end);
        try {
          for (const part of parts) {
            subscription.ends.push(part.start((method, notified) => send(subscription, method, notified)));
          }
        } catch (error) {
          reject(error);
          end();
          return;
        }
        // All may have been ended while extensions were reading.
        if (exchange.signal.aborted || endings !== begun) end();
        else exchange.signal.addEventListener("abort", end);
      });
    },
    endAll() {
      endings++;
      for (const subscription of [...all]) subscription.end();
    },
  };
}

function send({ id, exchange }: Subscription, method: string, params: Record<string, unknown> = {}): void {
  exchange.notify({ jsonrpc: "2.0", method, params: { _meta: { [MetaKey.subscriptionId]: id }, ...params } });
}

function readFilter(value: unknown, maxUris: number): SubscriptionFilter {
  if (!isObject(value)) throw invalid("params.notifications must be an object");
  for (const flag of Object.values(FLAGS)) {
    const given = value[flag];
    if (given !== undefined && typeof given !== "boolean")
      throw invalid(`params.notifications.${flag} must be a boolean`);
  }
  const uris = value["resourceSubscriptions"];
  if (uris !== undefined && (!Array.isArray(uris) || uris.some((uri) => typeof uri !== "string"))) {
    throw invalid("params.notifications.resourceSubscriptions must be an array of URIs");
  }
  if (Array.isArray(uris) && uris.length > maxUris) {
    throw invalid(
      `params.notifications.resourceSubscriptions has ${uris.length} URIs; the limit is ${maxUris}`,
    );
  }
  return value as SubscriptionFilter;
}

/** "Notification types the server does not support are omitted" (patterns/subscriptions, Acknowledgment). */
function agreedFilter(wanted: SubscriptionFilter, can: Listenable): SubscriptionFilter {
  const agreed: SubscriptionFilter = {};
  if (wanted.toolsListChanged && can.tools) agreed.toolsListChanged = true;
  if (wanted.promptsListChanged && can.prompts) agreed.promptsListChanged = true;
  if (wanted.resourcesListChanged && can.resources) agreed.resourcesListChanged = true;
  if (wanted.resourceSubscriptions !== undefined && can.resources) {
    agreed.resourceSubscriptions = [...new Set(wanted.resourceSubscriptions)].filter((uri) =>
      can.isResource(uri),
    );
  }
  return agreed;
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
