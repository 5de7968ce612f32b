/** What a person types into a field of a form, made into its value. */
import { type Choice, type FormField, type FormValue, valueProblem } from "./form.js";
import { readJson, shown } from "./json.js";
import { readTexts } from "./read-value.js";

export type FieldReading =
  | { readonly value: FormValue; readonly problem?: undefined }
  | { readonly problem: string };

/**
 * Reads one line.
 *
 * @example readFieldText(field, "2") // { value: "green" }, where that is the second choice
 */
export function readFieldText(field: FormField, text: string): FieldReading {
  const reading = readKind(field, text);
  if (reading.problem !== undefined) return reading;
  const problem = valueProblem(field, reading.value);
  return problem === undefined ? reading : { problem };
}

/** Whether choices can be told by their numbers in the list: not where a number could mean a choice itself. */
export function isNumbered({ choices }: FormField): boolean {
  return choices.every(({ value, title }) => !/^\d+$/.test(value.trim()) && !/^\d+$/.test(title.trim()));
}

function readKind(field: FormField, text: string): FieldReading {
  const trimmed = text.trim();
  switch (field.kind) {
    case "boolean":
      if (/^(y|yes|true)$/i.test(trimmed)) return { value: true };
      if (/^(n|no|false)$/i.test(trimmed)) return { value: false };
      return { problem: `expected y or n, got ${shown(text)}` };
    case "choice":
      return readChoice(field, trimmed);
    case "choices":
      return readChoices(field, trimmed);
    default: {
      const isWord = field.kind !== "text" || field.schema["format"] !== undefined;
      const { problems, value } = {
        value: undefined,
        ...readTexts([isWord ? trimmed : text], field.schema, {}, ""),
      };
      return problems === undefined
        ? { value: value as FormValue }
        : { problem: problems.map(({ message }) => message).join("; ") };
    }
  }
}

function readChoice(field: FormField, text: string): FieldReading {
  const { choices } = field;
  if (field.kind === "choices" && choices.length === 0) return { value: text };
  const byValue = choices.find(({ value }) => value === text);
  if (byValue !== undefined) return { value: byValue.value };
  const number = isNumbered(field) && /^\d+$/.test(text) ? Number(text) : 0;
  const byNumber = choices[number - 1];
  if (byNumber !== undefined) return { value: byNumber.value };
  const called = choices.filter(({ title }) => title.trim() === text);
  const [byTitle] = called;
  if (byTitle !== undefined && called.length === 1) return { value: byTitle.value };
  return { problem: `expected ${howToChoose(field, choices)}, got ${shown(text)}` };
}

function howToChoose(field: FormField, choices: readonly Choice[]): string {
  return isNumbered(field) ? `a number from 1 to ${choices.length}, or a value` : "one of the values";
}

/** One choice, several between commas, or a JSON array, for values that hold commas and for none at all. */
function readChoices(field: FormField, text: string): FieldReading {
  const whole = readChoice(field, text);
  if (field.choices.length > 0 && whole.problem === undefined) return { value: [whole.value as string] };
  const json = text.startsWith("[") ? readJson(text)?.value : undefined;
  const parts: unknown[] = Array.isArray(json) ? json : text.split(",").map((part) => part.trim());
  const values: string[] = [];
  for (const part of parts) {
    const reading = readChoice(field, String(part));
    if (reading.problem !== undefined) return reading;
    if (values.includes(reading.value as string))
      return { problem: `${shown(reading.value)} is chosen twice` };
    values.push(reading.value as string);
  }
  return { value: values };
}
