/**
 * Standard Schema (https://standardschema.dev): the interface through which zod, valibot, arktype and
 * friends are read. Only its shape is used; no schema library is ever loaded from here.
 */
import type { JsonSchema } from "../protocol/features.js";

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema: conversion by the library itself. */
    readonly jsonSchema?:
      | {
          readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
          readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
        }
      | undefined;
  };
}

interface JsonSchemaOptions {
  readonly target: string;
  /** Options of the library's own. */
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What an author may give where a schema is wanted: a Standard Schema, or JSON Schema 2020-12 as data. */
export type Schema = StandardSchema<never, unknown> | StandardSchema | JsonSchema;

/** What a handler receives for a schema: the library's output type, or a plain record for JSON Schema. */
export type InferOutput<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : unknown
  : Record<string, unknown>;

/** What a caller may give for a schema: the library's input type, or anything for JSON Schema. */
export type InferInput<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer Input }
    ? Input
    : unknown
  : unknown;

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    "~standard" in value &&
    typeof (value as StandardSchema)["~standard"]?.validate === "function"
  );
}
