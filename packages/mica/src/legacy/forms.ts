/**
 * Forms for a revision whose fields are text, numbers, yes or no, and one choice out of several (2025-06-18,
 * client/elicitation, Supported Schema Types), and the way back from what was filled in.
 */
import type { JsonSchema } from "../protocol/features.js";
import type { ElicitationSchema } from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";

/** A form, and how its content reads under the schema that was to be asked. */
export interface BasicForm {
  readonly requestedSchema: Record<string, unknown>;
  read(content: Record<string, unknown>): Record<string, unknown>;
}

interface Choice {
  readonly value: string;
  readonly title: string | undefined;
}

/** A multiple choice, asked as one yes-or-no field per option. */
interface Multiple {
  readonly name: string;
  readonly required: boolean;
  readonly fields: readonly { readonly field: string; readonly value: string }[];
}

/**
 * Titles of choices move to `enumNames`, defaults stay with yes-or-no fields only, and a choice of several becomes a
 * yes-or-no field for each option.
 */
export function basicForm({ properties, required = [] }: ElicitationSchema): BasicForm {
  const fields: Record<string, JsonSchema> = {};
  const multiples: Multiple[] = [];
  const stillRequired: string[] = [];

  for (const [name, property] of Object.entries(properties)) {
    if (property.type === "array") {
      multiples.push(askEach(name, property, required.includes(name), properties, fields));
    } else {
      fields[name] = fieldFor(property);
      if (required.includes(name)) stillRequired.push(name);
    }
  }

  return {
    requestedSchema: {
      type: "object",
      properties: fields,
      ...(stillRequired.length > 0 && { required: stillRequired }),
    },
    read(content) {
      const whole = { ...content };
      for (const { name, required: isRequired, fields } of multiples) {
        const chosen = fields.filter(({ field }) => content[field] === true).map(({ value }) => value);
        for (const { field } of fields) delete whole[field];
        if (chosen.length > 0 || isRequired) whole[name] = chosen;
      }
      return whole;
    },
  };
}

function fieldFor(property: JsonSchema): JsonSchema {
  const { type, title, description } = property;
  const common = {
    type,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
  const choices = choicesOf(property);
  if (choices !== undefined) {
    const isTitled = choices.some(({ title }) => title !== undefined);
    return {
      ...common,
      enum: choices.map(({ value }) => value),
      ...(isTitled && { enumNames: choices.map(({ value, title }) => title ?? value) }),
    };
  }
  const { minLength, maxLength, format, minimum, maximum } = property;
  const bounds = { minLength, maxLength, format, minimum, maximum };
  const given = Object.entries(bounds).filter(([, bound]) => bound !== undefined);
  const isDefaulted = type === "boolean" && property["default"] !== undefined;
  return { ...common, ...Object.fromEntries(given), ...(isDefaulted && { default: property["default"] }) };
}

function askEach(
  name: string,
  property: JsonSchema,
  required: boolean,
  taken: Record<string, unknown>,
  fields: Record<string, JsonSchema>,
): Multiple {
  const { items, title = name, description } = property;
  const preset: unknown[] = Array.isArray(property["default"]) ? property["default"] : [];
  const asked = (isObject(items) ? (choicesOf(items) ?? []) : []).map((choice, index) => {
    let field = `${name}.${index + 1}`;
    while (Object.hasOwn(taken, field) || Object.hasOwn(fields, field)) field += "_";
    fields[field] = {
      type: "boolean",
      title: `${String(title)}: ${choice.title ?? choice.value}`,
      ...(description !== undefined && { description }),
      ...(preset.includes(choice.value) && { default: true }),
    };
    return { field, value: choice.value };
  });
  return { name, required, fields: asked };
}

function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonSchema): Choice[] | undefined {
  if (Array.isArray(values)) {
    const titles: unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value: string, index) => ({ value, title: titles[index] as string | undefined }));
  }
  const branches = oneOf ?? anyOf;
  if (!Array.isArray(branches)) return undefined;
  return branches.filter(isObject).map(({ const: value, title }) => ({
    value: String(value),
    title: typeof title === "string" ? title : undefined,
  }));
}
