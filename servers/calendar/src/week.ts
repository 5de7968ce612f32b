/**
 * Days, weeks and instants in UTC, as text: dates are `YYYY-MM-DD`, instants `YYYY-MM-DDTHH:MM:SSZ`, so that their
 * order as text is their order in time. A week runs from Monday to Sunday. Pure: the clock is the caller's.
 */

/** The calendar holds the years that four digits can write. 0001-01-01 is a Monday in the Gregorian calendar. */
export const FIRST_DATE = "0001-01-01";
export const LAST_DATE = "9999-12-31";

const DAY_MS = 86_400_000;

export interface Week {
  /** The date that names the week. */
  readonly monday: string;
  /** Its dates in order: seven, or fewer in the week that {@link LAST_DATE} cuts off. */
  readonly dates: readonly string[];
  /** Its first and its last second. */
  readonly from: string;
  readonly to: string;
}

/** Whether a text is a date of the Gregorian calendar from {@link FIRST_DATE} to {@link LAST_DATE}. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < FIRST_DATE) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // A 30th of February is parsed as a day of March.
  return !Number.isNaN(time) && dateAt(time) === text;
}

/** The date at a point in time. @param ms milliseconds since 1970, within the years 1 to 9999 */
export function dateAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The week that holds a date. @throws TypeError where it is none. */
export function weekOf(date: string): Week {
  if (!isDate(date)) throw new TypeError(`date must be YYYY-MM-DD, got ${JSON.stringify(date)}`);
  const time = Date.parse(`${date}T00:00:00Z`);
  const daysSinceMonday = (new Date(time).getUTCDay() + 6) % 7;
  const start = time - daysSinceMonday * DAY_MS;
  const dates = Array.from({ length: 7 }, (_, day) => dateAt(start + day * DAY_MS)).filter(isDate);
  const monday = dates[0] as string;
  return { monday, dates, from: `${monday}T00:00:00Z`, to: `${dates.at(-1)}T23:59:59Z` };
}

/** The Monday some weeks later (or earlier), undefined where the calendar has none. */
export function mondayAfter(monday: string, weeks: number): string | undefined {
  const date = dateAt(Date.parse(`${monday}T00:00:00Z`) + weeks * 7 * DAY_MS);
  return isDate(date) ? date : undefined;
}

/**
 * An ISO 8601 date and time with a time zone, in UTC and whole seconds; undefined where the calendar cannot hold it.
 *
 * @example toInstant("2026-09-10T10:30:00.5+02:00") === "2026-09-10T08:30:00Z"
 */
export function toInstant(text: string): string | undefined {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return undefined;
  const instant = `${new Date(Math.floor(time / 1000) * 1000).toISOString().slice(0, 19)}Z`;
  return isDate(instant.slice(0, 10)) ? instant : undefined;
}
