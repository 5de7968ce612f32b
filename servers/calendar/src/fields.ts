/** What people and models may write into a calendar. */
import { z } from "zod";
import { textProblem } from "../../kit/text.js";
import { FIRST_DATE, LAST_DATE, toInstant } from "./week.js";

/** At most 200 characters, without spaces at either end. May be empty. With more lines a title could pose as a question. */
export const oneLine = z
  .string()
  .trim()
  .max(200)
  .superRefine((text, ctx) => {
    const message = textProblem(text, { lines: false });
    if (message !== undefined) ctx.addIssue({ code: "custom", message });
  });

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
