/**
 * One calendar, exposed three ways, by who decides: a resource that the application attaches, a prompt that the
 * person picks, a tool that the model calls.
 */
import { content, createServer, ErrorCode, embedded, ProtocolError, type Server, ToolError } from "mica-mcp";
import { z } from "zod";
import { isBusy } from "../../kit/sqlite-errors.js";
import { calendarBus, THIS_WEEK_URI, weekUri } from "./changes.js";
import { instant, oneLine } from "./fields.js";
import type { CalendarEvent, EventStore } from "./store.js";
import { dateAt, FIRST_DATE, isDate, LAST_DATE, mondayAfter, weekOf } from "./week.js";

export interface CalendarOptions {
  readonly store: EventStore;
  readonly version: string;
  /** Milliseconds since 1970: decides which week holds today. Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds between looks for changes by other processes, while somebody listens. Default 500. */
  readonly pollMs?: number | undefined;
}

/**
 * Always stale, because another process may write at any moment and because whoever has just added an event must
 * see it; a read is one look-up in an index. Private, because it is somebody's calendar.
 */
const CACHE = { ttlMs: 0, cacheScope: "private" } as const;

const JSON_TYPE = "application/json";
const FOCUSES = ["balance", "deep work", "meetings", "errands", "exercise", "family", "learning", "rest"];
/** Weeks that completion offers, counted from this one, in the order in which they are likely to be wanted. */
const OFFERED_WEEKS = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, 6, 7, 8];

/** @example serveStdio(createCalendar({ store: openStore("calendar.sqlite"), version: "1.0.0" })); */
export function createCalendar({ store, version, now = Date.now, pollMs }: CalendarOptions): Server {
  const bus = calendarBus(store, { now, pollMs });
  // Given here, the key takes precedence over any in the environment: it has to be that of the file.
  const server = createServer({ name: "calendar", version, bus, state: { keys: store.stateKey } });
  const today = () => dateAt(now());
  const eventsOfWeek = (date: string): CalendarEvent[] => {
    const { from, to } = weekOf(date);
    return store.between(from, to);
  };

  server.resource(
    THIS_WEEK_URI,
    {
      name: "week",
      description: "This week's events, Monday to Sunday, in UTC.",
      mimeType: JSON_TYPE,
      cache: CACHE,
    },
    () => eventsOfWeek(today()),
  );

  server.resourceTemplate(
    weekUri("{date}"),
    {
      name: "week of a date",
      description: "Events of the week that holds a date (YYYY-MM-DD), Monday to Sunday, in UTC.",
      mimeType: JSON_TYPE,
      cache: CACHE,
      complete: {
        date: (typed) =>
          OFFERED_WEEKS.map((weeks) => mondayAfter(weekOf(today()).monday, weeks)).filter(
            (monday): monday is string => monday?.startsWith(typed) ?? false,
          ),
      },
    },
    ({ date }, _ctx, uri) => eventsOfWeek(requireDate(date as string, uri)),
  );

  server.prompt(
    "prepare_week",
    {
      description: "Draft a plan for this week.",
      input: z.object({
        focus: oneLine.optional().describe("What the week should be about. Default: balance."),
      }),
      complete: { focus: FOCUSES },
    },
    ({ focus }) => {
      const date = today();
      // Embedded too, since a model cannot read a resource unless the application lets it.
      const week = { uri: THIS_WEEK_URI, mimeType: JSON_TYPE, text: JSON.stringify(eventsOfWeek(date)) };
      return [
        `Read calendar://week, which is attached (Monday ${weekOf(date).monday} to Sunday, times in UTC; today is ${date}). ` +
          "Draft a plan for the week: keep what is booked, say where it is too tight, and propose what to do with the " +
          `time that is left.\nFocus: ${focus || "balance"}.`,
        embedded(week),
      ];
    },
  );

  server.tool(
    "create_event",
    {
      description: "Create a calendar event. Writes to the calendar.",
      input: z.object({
        title: oneLine.min(1).describe("Event title."),
        startsAt: instant.optional().describe("Start, ISO 8601. The user is asked where it is missing."),
      }),
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    async ({ title, startsAt: given }, ctx) => {
      let startsAt = given;
      if (startsAt === undefined) {
        const answer = await ctx.elicit("when", {
          message: `When should "${title}" start?`,
          schema: z.object({ startsAt: instant }),
        });
        if (answer.action !== "accept") throw new ToolError("No date was given, so nothing was created.");
        startsAt = answer.content.startsAt;
      }
      const wanted = { title, startsAt };
      const event = await ctx.step("insert", ({ idempotencyKey }) => insert(store, wanted, idempotencyKey));
      bus.publishNew();
      return content(`Created ${event.id}: ${event.title} at ${event.startsAt}`, { structured: event });
    },
  );

  return server;
}

function requireDate(date: string, uri: string): string {
  if (isDate(date)) return date;
  throw new ProtocolError(
    ErrorCode.InvalidParams,
    `Resource not found: ${uri}: expected a date as YYYY-MM-DD from ${FIRST_DATE} to ${LAST_DATE}, got ${JSON.stringify(date)}`,
    { uri },
  );
}

/** A last round that arrives twice adds one event; one that arrives again with another answer is told so. */
function insert(store: EventStore, wanted: Omit<CalendarEvent, "id">, idempotencyKey: string): CalendarEvent {
  let event: CalendarEvent;
  try {
    event = store.insert(wanted, idempotencyKey);
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new ToolError(
      "The calendar is being written by another program, so nothing was created. Try again.",
    );
  }
  if (event.startsAt === wanted.startsAt) return event;
  throw new ToolError(
    `This call has created ${event.id} at ${event.startsAt} already, so nothing was created at ${wanted.startsAt}. ` +
      "Call create_event again for another event.",
  );
}
