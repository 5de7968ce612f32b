/**
 * Everything that a session is told of changes, through one modern subscription (patterns/subscriptions). It is
 * opened anew when the set of resources changes, or a credential comes that lasts longer: the next one is acknowledged
 * before the last one is closed, and only one of them is heard at any time. It ends with its credential.
 */
import { ProtocolError } from "../protocol/errors.js";
import type { SubscriptionFilter } from "../protocol/features.js";
import { isErrorResponse, isObject } from "../protocol/jsonrpc.js";
import { missingScopes } from "../protocol/scopes.js";
import type { JSONRPCNotification } from "../protocol/types.js";
import type { AuthInfo, RequestHandler } from "../transport.js";
import { describe } from "./in-flight.js";

export interface ChangesOptions {
  readonly handler: RequestHandler;
  /** Who is told, by the last credential that was shown. */
  auth(): AuthInfo | undefined;
  /** Which lists to hear about. */
  readonly lists: Omit<SubscriptionFilter, "resourceSubscriptions">;
  /** The params of the subscription, without the filter. */
  readonly params: Record<string, unknown>;
  send(notification: JSONRPCNotification): void;
  onProblem(text: string): void;
}

export interface Changes {
  /** Begins to hear about lists. @throws ProtocolError where the server refuses. */
  start(): Promise<void>;
  /** Hears about a resource too; false where the server has none at this URI. @throws ProtocolError */
  follow(uri: string): Promise<boolean>;
  unfollow(uri: string): Promise<void>;
  /** Another credential of the same client has been shown. Never rejects. */
  renew(): Promise<void>;
  close(): void;
}

const LIST_CHANGED = [
  ["toolsListChanged", "notifications/tools/list_changed"],
  ["promptsListChanged", "notifications/prompts/list_changed"],
  ["resourcesListChanged", "notifications/resources/list_changed"],
] as const;

interface Listening {
  /** What the server agreed to report. */
  readonly agreed: Promise<SubscriptionFilter>;
  close(): void;
}

export function followChanges(options: ChangesOptions): Changes {
  const uris = new Set<string>();
  const opened = new Set<Listening>();
  let heard: Listening | undefined;
  let next: Promise<SubscriptionFilter> | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let count = 0;
  let closed = false;
  let isStarted = false;
  /** When the credential ends, or has ended, with which changes are heard. */
  let heardUntil: number | undefined;

  function listen(): Listening {
    const controller = new AbortController();
    const auth = options.auth();
    const id = `changes-${++count}`;
    const filter = { ...options.lists, ...(uris.size > 0 && { resourceSubscriptions: [...uris] }) };
    let acknowledge: (agreed: SubscriptionFilter) => void = () => {};
    let refuse: (error: unknown) => void = () => {};
    const agreed = new Promise<SubscriptionFilter>((resolve, reject) => {
      acknowledge = resolve;
      refuse = reject;
    });
    const listening: Listening = { agreed, close: () => controller.abort() };

    function notify(notification: JSONRPCNotification): void {
      if (closed || controller.signal.aborted) return;
      if (notification.method === "notifications/subscriptions/acknowledged") {
        const last = heard;
        heard = listening;
        heardUntil = auth?.expiresAt;
        // Only when the server is done with the new one: a bus between processes must not fall silent in between.
        queueMicrotask(() => last?.close());
        const { notifications } = notification.params ?? {};
        acknowledge(isObject(notifications) ? notifications : {});
      } else if (heard === listening) {
        options.send(withoutSubscription(notification));
      }
    }

    const request = {
      jsonrpc: "2.0" as const,
      id,
      method: "subscriptions/listen",
      params: { ...options.params, notifications: filter },
    };
    const done = (): void => {
      opened.delete(listening);
      if (heard === listening) heard = undefined;
    };
    opened.add(listening);
    const answer = options.handler.handle(request, { notify, signal: controller.signal, auth });
    Promise.resolve(answer).then(
      (response) => {
        done();
        if (isErrorResponse(response)) {
          const { code, message, data } = response.error;
          refuse(new ProtocolError(code, message, data));
        } else acknowledge({});
      },
      (error: unknown) => {
        done();
        refuse(error);
      },
    );
    return listening;
  }

  /** One at a time; changes that come while one waits for its turn share it. */
  function reopen(): Promise<SubscriptionFilter> {
    next ??= turn.then(() => {
      next = undefined;
      return closed ? {} : listen().agreed;
    });
    turn = next.catch(() => {});
    return next;
  }

  /** Nobody listened for a while, so that anything may have changed. */
  function tellAll(agreed: SubscriptionFilter): void {
    for (const [flag, method] of LIST_CHANGED) if (agreed[flag]) options.send({ jsonrpc: "2.0", method });
    for (const uri of agreed.resourceSubscriptions ?? []) {
      options.send({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
    }
  }

  return {
    async start() {
      isStarted = true;
      await reopen();
    },
    async follow(uri) {
      isStarted = true;
      const isNew = !uris.has(uri);
      uris.add(uri);
      try {
        const { resourceSubscriptions = [] } = await reopen();
        const isFollowed = resourceSubscriptions.includes(uri);
        if (!isFollowed) uris.delete(uri);
        return isFollowed;
      } catch (error) {
        if (isNew) uris.delete(uri);
        throw error;
      }
    },
    async unfollow(uri) {
      if (uris.delete(uri)) await reopen();
    },
    async renew() {
      const auth = options.auth();
      const { expiresAt = Number.POSITIVE_INFINITY } = auth ?? {};
      if (!isStarted || closed || heardUntil === undefined || expiresAt <= heardUntil) return;
      const forbidden = [...uris].filter((uri) => !mayRead(uri, auth, options.handler));
      const wasSilent = heard === undefined;
      // The credential with which changes are heard can do more than this one, and has not ended.
      if (!wasSilent && forbidden.length > 0) return;
      for (const uri of forbidden) uris.delete(uri);
      try {
        const agreed = await reopen();
        if (wasSilent) tellAll(agreed);
      } catch (error) {
        options.onProblem(`changes cannot be reported to this client any more: ${describe(error)}`);
      }
    },
    close() {
      closed = true;
      for (const { close } of opened) close();
    },
  };
}

function mayRead(uri: string, auth: AuthInfo | undefined, handler: RequestHandler): boolean {
  const needed = handler.requiredScopes?.({ method: "resources/read", params: { uri } }) ?? [];
  return auth === undefined || missingScopes(auth.scopes, needed).length === 0;
}

function withoutSubscription({ jsonrpc, method, params }: JSONRPCNotification): JSONRPCNotification {
  const { _meta: _, ...rest } = params ?? {};
  return Object.keys(rest).length > 0 ? { jsonrpc, method, params: rest } : { jsonrpc, method };
}
