/** What people and models may write into a calendar. */
import { z } from "zod";
import { FIRST_DATE, LAST_DATE, toInstant } from "./week.js";

/** Line breaks, other control characters and characters that reorder text: with them a title could pose as a question. */
const NOT_ONE_LINE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** At most 200 characters, without spaces at either end. May be empty. */
export const oneLine = z
  .string()
  .trim()
  .max(200)
  .refine((text) => !NOT_ONE_LINE.test(text), "must be one line of text without control characters");

/** An ISO 8601 date and time with a time zone, read as UTC in whole seconds. */
export const instant = z.iso
  .datetime({
    offset: true,
    error: "expected an ISO 8601 date and time with a time zone, such as 2026-09-10T08:30:00Z",
  })
  .transform((text, ctx) => {
    const normalized = toInstant(text);
    if (normalized !== undefined) return normalized;
    ctx.issues.push({
      code: "custom",
      input: text,
      message: `must fall between ${FIRST_DATE} and ${LAST_DATE} in UTC`,
    });
    return z.NEVER;
  });
