/** The fields of a form, asked for one by one until each answer fits. */
import { readFieldText } from "../engine/field-text.js";
import type { FormField, FormValue } from "../engine/form.js";
import type { Dialog } from "./dialog.js";
import { fieldLines, promptText } from "./form-text.js";
import { visibleLine } from "./terminal.js";

/** A form that somebody is filling in. */
export interface Filling {
  readonly dialog: Dialog;
  readonly fields: readonly FormField[];
  /** What stands in for the defaults at first. */
  readonly answers: Map<string, FormValue>;
}

/** What ends a form without an answer. */
export type End = "decline" | "cancel";

/** Asks for some of the fields; `/back` leads to those before them, too. */
export async function fill(filling: Filling, from: number, to: number): Promise<End | undefined> {
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

async function askField({ dialog, answers }: Filling, field: FormField): Promise<End | "back" | "next"> {
  const complain = (problem: string) => dialog.say(dialog.paint.yellow(`  ${visibleLine(problem)}`));
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
        if (!field.required) {
          answers.delete(field.name);
          return "next";
        }
        complain("It is required; /decline and /cancel leave the form.");
        break;
      case "":
        if (usual !== undefined) answers.set(field.name, usual);
        if (usual !== undefined || !field.required) return "next";
        complain("It is required.");
        break;
      default: {
        const { problem, value } = { value: undefined, ...readFieldText(field, unescaped(text as string)) };
        if (value !== undefined) {
          answers.set(field.name, value);
          return "next";
        }
        complain(problem as string);
      }
    }
  }
}

/** `//back` is the text `/back`. */
function unescaped(text: string): string {
  return /^\s*\/\/(back|skip|decline|cancel)\s*$/.test(text) ? text.replace("//", "/") : text;
}
