/** Consent to open a page, asked for with all of its URL in view (client/elicitation, Safe URL Handling). */
import type { ElicitResult, ElicitUrlParams } from "mica-mcp/client";
import { openUrl } from "../engine/open-url.js";
import { judgeUrl, type UrlVerdict } from "../engine/url-verdict.js";
import type { Dialog } from "./dialog.js";
import type { Paint } from "./paint.js";
import { quoted } from "./server-words.js";
import { visibleLine } from "./terminal.js";

export interface UrlSettings {
  /** Whether the page may be opened from here; otherwise it is only shown. */
  readonly mayOpen: boolean;
  /** Whether the server asked for the same page before. */
  readonly again: boolean;
  /** Resolves with what went wrong. Default: the browser of whoever sits here. */
  readonly open?: (href: string) => Promise<string | undefined>;
}

/** Asks, and opens the page only after a yes. */
export async function askUrl(
  dialog: Dialog,
  who: string,
  { message, url }: ElicitUrlParams,
  { mayOpen, again, open = openUrl }: UrlSettings,
): Promise<ElicitResult> {
  const verdict = judgeUrl(url);
  dialog.say("", ...urlLines(who, message, verdict, dialog.paint));
  if (verdict.refusal !== undefined) return { action: "decline" };
  const { href } = verdict;
  if (again)
    dialog.say(
      "  It asked for this page before: you are not done there yet, or it cannot know that you are.",
    );
  else if (!mayOpen) dialog.say("  Open it yourself, or decline.");
  else {
    const consent = await choose(dialog, "Open it in your browser? [y/N] ", false);
    if (consent !== "yes") return { action: consent === "cancel" ? "cancel" : "decline" };
    if (await opened(dialog, open, href)) return { action: "accept" };
  }
  for (;;) {
    const prompt = mayOpen ? "Have you finished there? [y/N/open] " : "Have you finished there? [y/N] ";
    const said = await choose(dialog, prompt, mayOpen);
    if (said !== "open") return { action: said === "yes" ? "accept" : said };
    await opened(dialog, open, href);
  }
}

async function opened(
  dialog: Dialog,
  open: NonNullable<UrlSettings["open"]>,
  href: string,
): Promise<boolean> {
  const problem = await open(href);
  if (problem === undefined) return true;
  dialog.say(dialog.paint.yellow(`  It could not be opened (${visibleLine(problem)}). Open it yourself.`));
  return false;
}

/** Who asks for what, the whole URL, its host set apart, and what is suspicious about it. */
export function urlLines(who: string, message: string, verdict: UrlVerdict, paint: Paint): string[] {
  const { href, host, hostAt, refusal, warnings } = verdict;
  const whole = `${href.slice(0, hostAt)}${paint.bold(host)}${href.slice(hostAt + host.length)}`;
  const opened = refusal === undefined ? [`  Host: ${paint.bold(host)}`] : [];
  const notes = [
    ...(refusal === undefined ? [] : [`Declined: ${refusal}.`]),
    ...warnings.map((one) => `Warning: ${one}.`),
  ];
  return [
    `${who} asks you to open a page:`,
    ...quoted(message, paint),
    "",
    `  ${refusal === undefined ? whole : visibleLine(href)}`,
    ...opened,
    ...notes.map((note) => paint.yellow(`  ${visibleLine(note)}`)),
  ];
}

/** Only a plain yes is one; saying nothing is a no. */
async function choose(
  dialog: Dialog,
  prompt: string,
  mayOpen: boolean,
): Promise<"yes" | "open" | "decline" | "cancel"> {
  for (;;) {
    const word = (await dialog.ask(prompt))?.trim().toLowerCase().replace(/^\//, "");
    switch (word) {
      case undefined:
      case "cancel":
        return "cancel";
      case "y":
      case "yes":
        return "yes";
      case "":
      case "n":
      case "no":
      case "decline":
        return "decline";
      case "open":
        if (mayOpen) return "open";
    }
    dialog.say("  y or n (which declines), or cancel.");
  }
}
