/**
 * The sessions of one HTTP endpoint (2025-11-25, basic/transports, Session Management): found by their id and by who
 * opened them, bounded in number, and ended when nobody has been connected for a while. Every request is judged by the
 * credential that came with it; what belongs to no request lasts as long as the one that lasts longest.
 */
import type { LegacyLimits, SessionLimits } from "../legacy-options.js";
import { whenExpired } from "../server/expiry.js";
import type { AuthInfo, RequestHandler } from "../transport.js";
import type { EventStore } from "./event-store.js";
import { createEventStream, type EventStream } from "./event-stream.js";
import { createLegacySession, type LegacySession } from "./session.js";

/** One session. */
export interface HttpSession {
  readonly id: string;
  readonly session: LegacySession;
  /** Carries what belongs to no request; read by GET. */
  readonly standing: EventStream;
  /** Streams that have not ended, by their ids; `standing` among them. */
  readonly streams: ReadonlyMap<string, EventStream>;
  openStream(): EventStream;
  /** A request of this session has come; the result says that its connection is closed. */
  enter(): () => void;
  /** Ends it: aborts what is at work, and closes every stream. */
  end(): void;
}

export interface HttpSessions {
  /** Undefined where there are as many as there may be. */
  open(auth: AuthInfo | undefined): HttpSession | undefined;
  /** Undefined where it never was, is over, or is somebody else's. */
  find(id: string, auth: AuthInfo | undefined): HttpSession | undefined;
  readonly size: number;
  /** Nothing more will be received: ends what only waits. */
  hangUp(): void;
  close(): void;
}

export interface HttpSessionsOptions {
  readonly handler: RequestHandler;
  readonly limits: LegacyLimits;
  readonly sessions: SessionLimits & { readonly idPrefix?: string | undefined };
  readonly store: EventStore;
  onProblem(text: string): void;
}

/** How often sessions are looked through, at most and at least, in milliseconds. */
const SWEEP_MS = { least: 10, most: 30_000 };

export function keepSessions(options: HttpSessionsOptions): HttpSessions {
  const { handler, limits, store, onProblem } = options;
  const { max, idleMs, idPrefix = "" } = options.sessions;
  const all = new Map<string, Kept>();
  let timer: ReturnType<typeof setInterval> | undefined;

  interface Kept extends HttpSession {
    readonly principal: string | undefined;
    connections: number;
    /** When the last connection closed. */
    lastUsed: number;
    /** A credential was shown. */
    show(auth: AuthInfo | undefined): void;
  }

  function sweep(): void {
    const now = Date.now();
    for (const kept of all.values()) {
      if (kept.connections === 0 && now - kept.lastUsed >= idleMs) kept.end();
    }
  }

  function create(auth: AuthInfo | undefined): Kept {
    // Unguessable: whoever knows it may speak for the client.
    const id = `${idPrefix}${crypto.randomUUID()}`;
    const streams = new Map<string, EventStream>();
    let streamCount = 0;
    const openStream = (coalesces = false): EventStream => {
      const streamId = (streamCount++).toString(36);
      const stream = createEventStream({
        id: streamId,
        session: id,
        store,
        coalesces,
        primed: session.revision?.primedStreams ?? false,
        onOver: () => void streams.delete(streamId),
        onProblem,
      });
      streams.set(streamId, stream);
      return stream;
    };
    let standing: EventStream | undefined;
    let shown: AuthInfo | undefined;
    /** Of those that were shown, the one that lasts longest. */
    let longest: AuthInfo | undefined;
    let forgetExpiry = (): void => {};
    const session = createLegacySession({
      handler,
      limits,
      auth: () => shown,
      onProblem,
      send: (notification) => kept.standing.send(JSON.stringify(notification)),
    });
    const kept: Kept = {
      id,
      principal: auth?.principal,
      session,
      streams,
      openStream: () => openStream(),
      connections: 0,
      lastUsed: Date.now(),
      get standing() {
        // Several changes of one list say no more than one.
        standing ??= openStream(true);
        return standing;
      },
      show(auth) {
        if (auth === undefined) return;
        if (longest === undefined || endOf(auth) > endOf(longest)) {
          longest = auth;
          forgetExpiry();
          // Whoever comes back has to show another one, and gets what came meanwhile.
          forgetExpiry = whenExpired(auth, () => standing?.hangUp());
        }
        shown = auth;
        session.renew();
      },
      enter() {
        kept.connections++;
        return () => {
          kept.connections--;
          kept.lastUsed = Date.now();
        };
      },
      end() {
        if (!all.delete(id)) return;
        if (all.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
        forgetExpiry();
        session.close();
        for (const stream of streams.values()) stream.end();
        drop(id);
      },
    };
    kept.show(auth);
    return kept;
  }

  function drop(id: string): void {
    const failed = (error: unknown): void => onProblem(`the event store failed: ${String(error)}`);
    try {
      void Promise.resolve(store.drop(id)).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  return {
    open(auth) {
      if (all.size >= max) sweep();
      if (all.size >= max) return undefined;
      const kept = create(auth);
      all.set(kept.id, kept);
      if (timer === undefined) {
        const every = Math.min(Math.max(idleMs / 4, SWEEP_MS.least), SWEEP_MS.most);
        timer = setInterval(sweep, every);
        // One timer for all, and no reason for a process to live on.
        (timer as { unref?: () => void }).unref?.();
      }
      return kept;
    },
    find(id, auth) {
      const kept = all.get(id);
      if (kept === undefined || kept.principal !== auth?.principal) return undefined;
      kept.show(auth);
      return kept;
    },
    get size() {
      return all.size;
    },
    hangUp() {
      for (const { session, standing } of all.values()) {
        session.hangUp();
        standing.end();
      }
    },
    close() {
      for (const kept of [...all.values()]) kept.end();
    },
  };
}

function endOf({ expiresAt = Number.POSITIVE_INFINITY }: AuthInfo): number {
  return expiresAt;
}
