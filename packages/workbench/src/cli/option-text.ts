/** The text of an option, and what is said of one that is wrong. */
import { UsageError } from "../engine/usage-error.js";

/** What `parseArgs` found. */
export type OptionValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export function text(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

export function texts(values: OptionValues, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export function optionError(option: string, message: string): UsageError {
  return new UsageError(`${option}: ${message}`, [{ path: option, message }]);
}
