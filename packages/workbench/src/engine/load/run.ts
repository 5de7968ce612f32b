/**
 * Load: the same request over and over, either always so many in flight (closed loop), or so many a second whether or
 * not answers come (open loop). In an open loop a latency counts from when the request was due, not from when it was
 * sent, so that a server that stalls is charged for everybody whom it kept waiting.
 */
import { type Latencies, recordLatencies } from "./latencies.js";
import type { Sender, SendFailure } from "./sender.js";

export interface LoadPlan {
  /** In flight at a time; in an open loop at most. */
  readonly connections: number;
  /** Requests per second; undefined for a closed loop. */
  readonly rate: number | undefined;
  readonly seconds: number;
  readonly requests: number;
  readonly signal: AbortSignal;
  /** Called about four times a second. */
  readonly onProgress: (seconds: number, answered: number) => void;
}

export interface Second {
  readonly second: number;
  readonly answered: number;
  readonly failed: number;
  /** Milliseconds; null where nothing was answered. */
  readonly slowestMs: number | null;
}

export interface ErrorCount {
  readonly kind: string;
  readonly count: number;
  /** What the first of them said. */
  readonly example: string;
}

export interface LoadResult {
  /** From the first request to the last answer, or to where it was given up. */
  readonly seconds: number;
  readonly sent: number;
  /** Answered well. */
  readonly answered: number;
  readonly failed: number;
  /** Sent, and not answered when the waiting ended. */
  readonly unanswered: number;
  /** Due by the rate, and never sent: too many were in flight. */
  readonly unsent: number;
  /** Answered well, by second. */
  readonly perSecond: number;
  /** Of what was answered well. */
  readonly latencyMs: Latencies | null;
  readonly errors: readonly ErrorCount[];
  readonly series: readonly Second[];
  /** Why it ended before its time; null where it did not. */
  readonly stopped: string | null;
  readonly client: {
    /** Part of the time in which this process was busy; null in an open loop, which is busy with watching the clock. */
    readonly utilization: number | null;
    /** How late requests left that could have left in time; null in a closed loop. */
    readonly latenessMs: Latencies | null;
    /** Whether it was this process that set the pace. */
    readonly limited: boolean;
  };
}

/** Milliseconds that answers may take after the last request. */
const GRACE_MS = 5_000;
/** So many failed connections in a row mean that there is no server any more. */
const MOST_LOST = 50;
/** Milliseconds before the next attempt after a failed connection. */
const PAUSE_MS = 10;
/** Milliseconds before a request is due from which on the clock is watched: timers are no more precise. */
const WATCH_MS = 2;
const BUSY = 0.9;
const LATE_MS = 5;

export async function runLoad(sender: Sender, plan: LoadPlan): Promise<LoadResult> {
  const { connections, rate, seconds, requests, signal, onProgress } = plan;
  const latencies = recordLatencies();
  const lateness = recordLatencies();
  const errors = new Map<string, { count: number; example: string }>();
  const series: { answered: number; failed: number; slowestMs: number | null }[] = [];
  let sent = 0;
  let answered = 0;
  let failed = 0;
  let inFlight = 0;
  let lost = 0;
  let stopped: string | null = null;
  let over = false;
  /** Whether the last attempt to send found too many in flight. */
  let blocked = false;

  const began = performance.now();
  const before = performance.eventLoopUtilization();
  const deadline = began + 1_000 * seconds;
  const due = rate === undefined ? requests : Math.min(requests, Math.max(1, Math.floor(rate * seconds)));
  const dueAt = (index: number) => began + (1_000 * index) / (rate as number);

  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    let immediate: NodeJS.Immediate | undefined;
    const ticking = setInterval(() => onProgress((performance.now() - began) / 1_000, answered), 250);
    const ending = setTimeout(() => {
      // What was due just before the end.
      if (rate !== undefined) pump();
      stop(null);
    }, 1_000 * seconds);
    let giveUp: NodeJS.Timeout | undefined;

    const finish = () => {
      clearInterval(ticking);
      clearTimeout(ending);
      clearTimeout(giveUp);
      clearTimeout(timer);
      if (immediate !== undefined) clearImmediate(immediate);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    /** Nothing more is sent. */
    const stop = (why: string | null) => {
      if (over) return;
      over = true;
      stopped = why;
      if (inFlight === 0 || why !== null) finish();
      else giveUp = setTimeout(finish, GRACE_MS);
    };

    const launch = (from: number, then: () => void) => {
      sent++;
      inFlight++;
      sender.send((failure) => {
        const now = performance.now();
        inFlight--;
        note(now, now - from, failure);
        if (lost >= MOST_LOST) stop(`${MOST_LOST} connections in a row failed: ${failure?.message}`);
        if (over) {
          if (inFlight === 0) finish();
        } else if (isLost(failure)) setTimeout(then, PAUSE_MS);
        else then();
      });
    };

    const next = () => {
      if (over) return;
      if (sent >= due || performance.now() >= deadline) {
        if (inFlight === 0) stop(null);
        return;
      }
      launch(performance.now(), next);
    };

    const pump = () => {
      if (over) return;
      clearTimeout(timer);
      if (immediate !== undefined) clearImmediate(immediate);
      immediate = undefined;
      for (;;) {
        const now = performance.now();
        if (sent >= due) {
          if (inFlight === 0) stop(null);
          return;
        }
        const wait = dueAt(sent) - now;
        if (wait > 0) {
          blocked = false;
          if (wait > WATCH_MS) timer = setTimeout(pump, Math.floor(wait - WATCH_MS) + 1);
          else immediate = setImmediate(pump);
          return;
        }
        if (inFlight >= connections) {
          blocked = true;
          return;
        }
        if (!blocked) lateness.add(-wait);
        launch(dueAt(sent), pump);
      }
    };

    if (signal.aborted) return finish();
    signal.addEventListener("abort", finish);
    if (rate !== undefined) pump();
    else for (let at = 0; at < Math.min(connections, due); at++) next();
  });
  over = true;
  sender.close();
  signal.throwIfAborted();

  function note(now: number, ms: number, failure: SendFailure | undefined): void {
    const second = Math.floor((now - began) / 1_000);
    while (series.length <= second) series.push({ answered: 0, failed: 0, slowestMs: null });
    const at = series[second] as (typeof series)[number];
    if (failure === undefined) {
      lost = 0;
      answered++;
      latencies.add(ms);
      at.answered++;
      at.slowestMs = Math.max(at.slowestMs ?? 0, Math.round(1_000 * ms) / 1_000);
      return;
    }
    failed++;
    at.failed++;
    lost = isLost(failure) ? lost + 1 : 0;
    const kind = errors.get(failure.kind);
    if (kind === undefined) errors.set(failure.kind, { count: 1, example: failure.message });
    else kind.count++;
  }

  const elapsed = (performance.now() - began) / 1_000;
  const { utilization } = performance.eventLoopUtilization(before);
  const late = rate === undefined ? null : lateness.summary();
  const passed = rate === undefined ? sent : Math.min(due, Math.floor(rate * Math.min(elapsed, seconds)));
  return {
    seconds: Math.round(1_000 * elapsed) / 1_000,
    sent,
    answered,
    failed,
    unanswered: inFlight,
    unsent: stopped === null ? Math.max(0, passed - sent) : 0,
    perSecond: Math.round((10 * answered) / Math.max(elapsed, 0.001)) / 10,
    latencyMs: latencies.summary(),
    errors: [...errors]
      .map(([kind, { count, example }]) => ({ kind, count, example }))
      .sort((a, b) => b.count - a.count),
    series: series.map((each, second) => ({ second, ...each })),
    stopped,
    client: {
      utilization: rate === undefined ? Math.round(100 * utilization) / 100 : null,
      latenessMs: late,
      limited: rate === undefined ? utilization > BUSY : late !== null && late.p99 > LATE_MS,
    },
  };
}

function isLost(failure: SendFailure | undefined): boolean {
  return failure?.kind === "connect_failed" || failure?.kind === "connection_lost";
}
