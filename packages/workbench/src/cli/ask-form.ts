/** A form, filled in line by line, and looked at as a whole before anything is sent (client/elicitation). */
import type { ElicitFormParams, ElicitResult } from "mica-mcp/client";
import { suggestion } from "../engine/closest.js";
import { readFieldText } from "../engine/field-text.js";
import { type FormContent, type FormField, type FormValue, looksSecret, readForm } from "../engine/form.js";
import type { Dialog } from "./dialog.js";
import { answerText, fieldLines, promptText } from "./form-text.js";
import { quoted } from "./server-words.js";
import { table } from "./table.js";
import { visibleLine } from "./terminal.js";

/** What ends a form without an answer. */
type End = "decline" | "cancel";

interface Filling {
  readonly dialog: Dialog;
  readonly fields: readonly FormField[];
  readonly answers: Map<string, FormValue>;
}

/**
 * Asks for every field, then whether to send it all.
 *
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
  const names = fields.map(({ name }) => name);
  const answers = new Map(Object.entries(known).filter(([name]) => names.includes(name)));
  const filling: Filling = { dialog, fields, answers };
  dialog.say("", `${who} asks:`, ...quoted(message, paint));
  if (fields.some(looksSecret)) {
    dialog.say(
      paint.yellow("  This looks like a question for a secret, which servers must not ask for in a form."),
    );
  }
  dialog.say(paint.dim("  At any question: /back, /skip, /decline, /cancel (also Ctrl-D). * is required."));
  const end = (await fill(filling, 0, fields.length)) ?? (await review(filling));
  if (end !== undefined) return { action: end };
  return { action: "accept", content: Object.fromEntries(answers) };
}

/** Asks for some of the fields; `/back` leads to any before them. */
async function fill(filling: Filling, from: number, to: number): Promise<End | undefined> {
  const { dialog, fields } = filling;
  for (let at = from; at < to; ) {
    const field = fields[at] as FormField;
    dialog.say("", ...fieldLines(field, dialog.paint));
    const next = await askField(filling, field);
    if (next === "decline" || next === "cancel") return next;
    if (next === "next") at += 1;
    else if (at > 0) at -= 1;
    else dialog.say("  This is the first field.");
  }
  return undefined;
}

/** Asks until there is an answer that fits. */
async function askField({ dialog, answers }: Filling, field: FormField): Promise<End | "back" | "next"> {
  for (;;) {
    const usual = answers.get(field.name) ?? field.preset;
    const text = await dialog.ask(promptText(field, usual));
    switch (text?.trim()) {
      case undefined:
      case "/cancel":
        return "cancel";
      case "/decline":
        return "decline";
      case "/back":
        return "back";
      case "/skip":
        if (field.required) {
          dialog.say(dialog.paint.yellow("  It is required; /decline or /cancel leave the form."));
          continue;
        }
        answers.delete(field.name);
        return "next";
      case "":
        if (usual !== undefined) answers.set(field.name, usual);
        else if (field.required) {
          dialog.say(dialog.paint.yellow("  It is required."));
          continue;
        }
        return "next";
      default: {
        const reading = readFieldText(field, unescaped(text as string));
        if (reading.problem !== undefined) {
          dialog.say(dialog.paint.yellow(`  ${visibleLine(reading.problem)}`));
          continue;
        }
        answers.set(field.name, reading.value);
        return "next";
      }
    }
  }
}

/** `//back` is the text `/back`. */
function unescaped(text: string): string {
  return /^\s*\/\/(back|skip|decline|cancel)\s*$/.test(text) ? text.replace("//", "/") : text;
}

/** Shows all answers until it is said what to do with them; undefined to send them. */
async function review(filling: Filling): Promise<End | undefined> {
  const { dialog, fields } = filling;
  for (;;) {
    showAnswers(filling);
    const text = (await dialog.ask("Send? [Y/n/edit/decline/cancel] "))?.trim();
    const [word = "", ...rest] = text?.split(/\s+/) ?? ["cancel"];
    switch (word.toLowerCase().replace(/^\//, "")) {
      case "":
      case "y":
      case "yes":
        return undefined;
      case "decline":
        return "decline";
      case "cancel":
        return "cancel";
      case "back":
      case "edit": {
        const at = word === "edit" && rest.length > 0 ? fieldAt(fields, rest.join(" ")) : undefined;
        if (rest.length > 0 && at === undefined) {
          const names = fields.map(({ name }) => name);
          dialog.say(
            `  There is no field ${visibleLine(rest.join(" "))}${visibleLine(suggestion(rest.join(" "), names))}`,
          );
          continue;
        }
        const from = at ?? (word === "edit" ? 0 : Math.max(fields.length - 1, 0));
        const end = await fill(filling, from, at === undefined ? fields.length : from + 1);
        if (end !== undefined) return end;
        continue;
      }
      case "n":
      case "no":
        dialog.say(
          "  Nothing is sent: edit changes the answers (edit NAME one of them), decline says no, cancel says nothing.",
        );
        continue;
      default:
        dialog.say(
          "  y sends the answers, edit changes them (edit NAME one of them), decline says no, cancel says nothing.",
        );
    }
  }
}

/** By name, or by its place in the form. */
function fieldAt(fields: readonly FormField[], text: string): number | undefined {
  const byName = fields.findIndex(({ name }) => name === text);
  if (byName >= 0) return byName;
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= fields.length ? number - 1 : undefined;
}

function showAnswers({ dialog, fields, answers }: Filling): void {
  const { paint } = dialog;
  const rows = table([
    { cells: fields.map(({ name }) => visibleLine(name)) },
    {
      cells: fields.map((field) => {
        const value = answers.get(field.name);
        return value === undefined ? "(left out)" : answerText(field, value);
      }),
    },
  ]);
  dialog.say(
    "",
    paint.bold("Your answers"),
    ...(rows.length > 0 ? rows.map((row) => `  ${row}`) : ["  (no fields)"]),
  );
}
