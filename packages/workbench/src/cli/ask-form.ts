/** A form, filled in line by line, and looked at as a whole before anything is sent (client/elicitation). */
import type { ElicitFormParams, ElicitResult } from "mica-mcp/client";
import { suggestion } from "../engine/closest.js";
import { type FormContent, looksSecret, readForm, valueProblem } from "../engine/form.js";
import type { Dialog } from "./dialog.js";
import { type End, type Filling, fill } from "./fill-form.js";
import { answerText } from "./form-text.js";
import { quoted } from "./server-words.js";
import { table } from "./table.js";
import { visibleLine } from "./terminal.js";

/**
 * Asks for every field, then whether to send it all.
 *
 * @param who Who asks, safe to show.
 * @param known Stands in for the defaults.
 */
export async function askForm(
  dialog: Dialog,
  who: string,
  { message, requestedSchema }: ElicitFormParams,
  known: FormContent = {},
): Promise<ElicitResult> {
  const { paint } = dialog;
  const fields = readForm(requestedSchema);
  // They may come from another form of the same question.
  const fitting = Object.entries(known).filter(([name, value]) =>
    fields.some((field) => field.name === name && valueProblem(field, value) === undefined),
  );
  const answers = new Map(fitting);
  const filling: Filling = { dialog, fields, answers };
  dialog.say("", `${who} asks:`, ...quoted(message, paint));
  if (fields.some(looksSecret)) {
    // "Servers MUST NOT use form mode elicitation to request sensitive information such as passwords".
    const warning = "Warning: it seems to ask for a secret, which no server may do in a form.";
    dialog.say(paint.yellow(`  ${warning}`));
  }
  if (fields.length > 0)
    dialog.say(paint.dim("  At any question: /back, /skip, /decline, /cancel (also Ctrl-D). * is required."));
  const end = (await fill(filling, 0, fields.length)) ?? (await review(filling, who));
  if (end !== undefined) return { action: end };
  return { action: "accept", content: Object.fromEntries(answers) };
}

/** Shows all answers until it is said what to do with them; undefined to send them. */
async function review(filling: Filling, who: string): Promise<End | undefined> {
  const { dialog, fields } = filling;
  for (;;) {
    dialog.say("", `${dialog.paint.bold("Your answers")} to ${who}`, ...answerLines(filling));
    const text = await dialog.ask("Send? [Y/n/edit/decline/cancel] ");
    const [, word = "", what = ""] = /^\/?(\S*)\s*(.*)$/.exec(text?.trim() ?? "cancel") ?? [];
    switch (word.toLowerCase()) {
      case "":
      case "y":
      case "yes":
        return undefined;
      case "decline":
      case "cancel":
        return word.toLowerCase() as End;
      case "back":
      case "edit": {
        const end = await edit(filling, word.toLowerCase() === "back" ? String(fields.length) : what);
        if (end !== undefined) return end;
        break;
      }
      default:
        dialog.say(
          "  Nothing is sent yet. y sends the answers, edit changes them (edit NAME one of them),",
          "  decline says no, cancel says nothing.",
        );
    }
  }
}

/** Asks again: for all fields, or for the one that is named by its name or its place. */
async function edit(filling: Filling, what: string): Promise<End | undefined> {
  const { dialog, fields } = filling;
  if (what === "" || fields.length === 0) return fill(filling, 0, fields.length);
  const names = fields.map(({ name }) => name);
  const at = names.includes(what) ? names.indexOf(what) : /^\d+$/.test(what) ? Number(what) - 1 : -1;
  if (fields[at] !== undefined) return fill(filling, at, at + 1);
  dialog.say(visibleLine(`  There is no field ${JSON.stringify(what)}${suggestion(what, names)}`));
  return undefined;
}

function answerLines({ fields, answers }: Filling): string[] {
  if (fields.length === 0) return ["  (nothing to fill in)"];
  const values = fields.map((field) => {
    const value = answers.get(field.name);
    return value === undefined ? "(left out)" : answerText(field, value);
  });
  const lines = table([{ cells: fields.map(({ name }) => visibleLine(name)) }, { cells: values }]);
  return lines.map((line) => `  ${line}`);
}
