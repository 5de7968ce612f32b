/** The fields of a form and their values, as they are shown to whoever fills it in. */
import { isNumbered } from "../engine/field-text.js";
import { type Choice, expectedOf, type FormField, type FormValue } from "../engine/form.js";
import type { Paint } from "./paint.js";
import { quoted } from "./server-words.js";
import { cut, visibleLine } from "./terminal.js";

/** Most choices that are listed; the others can be given by their value. */
const MOST_CHOICES = 50;

/** What a field is, above its prompt. */
export function fieldLines(field: FormField, paint: Paint): string[] {
  const { name, title, description, required, choices } = field;
  const called = title === undefined ? paint.bold(visibleLine(name)) : `${paint.bold(visibleLine(title))}`;
  const mark = required ? paint.red("*") : paint.dim("(optional)");
  const head = `${called} ${mark}${choices.length === 0 ? `: ${visibleLine(expectedOf(field))}` : `: ${howMany(field)}`}`;
  const about = description === undefined ? [] : quoted(description, paint);
  return [head, ...about, ...choiceLines(field, paint)];
}

function howMany(field: FormField): string {
  const how = isNumbered(field) ? "by number or value" : "by value";
  if (field.kind === "choice") return `choose one, ${how}`;
  const some = expectedOf({ ...field, choices: [] }).replace(/ of texts$/, "");
  return `choose ${some}, ${how}, with commas between them`;
}

function choiceLines(field: FormField, paint: Paint): string[] {
  const { choices } = field;
  const width = String(Math.min(choices.length, MOST_CHOICES)).length;
  const lines = choices.slice(0, MOST_CHOICES).map((choice, index) => {
    const number = isNumbered(field) ? `${String(index + 1).padStart(width)}  ` : "";
    return `    ${paint.cyan(number)}${choiceText(choice, paint)}`;
  });
  const left = choices.length - lines.length;
  return left > 0 ? [...lines, paint.dim(`    and ${left} more`)] : lines;
}

function choiceText({ value, title }: Choice, paint: Paint): string {
  return title === value
    ? visibleLine(value)
    : `${visibleLine(title)} ${paint.dim(`(${visibleLine(value)})`)}`;
}

/** The line to answer on, with what an empty answer stands for. */
export function promptText(field: FormField, usual: FormValue | undefined): string {
  const kind = field.kind === "boolean" ? " (y/n)" : "";
  const standing = usual === undefined ? "" : ` [${cut(answerText(field, usual), 40)}]`;
  return `  ${cut(visibleLine(field.name), 40)}${kind}${standing}: `;
}

/** A value in the words in which it is asked for. */
export function answerText({ choices }: FormField, value: FormValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === "") return "(empty)";
  if (Array.isArray(value)) return value.length === 0 ? "(none)" : value.map(titled).join(", ");
  return titled(String(value));

  function titled(text: string): string {
    const choice = choices.find((one) => one.value === text);
    return visibleLine(choice === undefined || choice.title === text ? text : `${choice.title} (${text})`);
  }
}
