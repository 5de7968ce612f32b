/** Handles (`INC-12`), and incidents as callers see them. */
import type { Incident } from "./store.js";

export function handleOf(number: number): string {
  return `INC-${number}`;
}

/** The number of a handle in either case; undefined for any other text. */
export function numberOf(handle: string): number | undefined {
  const digits = /^inc-([1-9]\d{0,14})$/i.exec(handle)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function uriOf(number: number): string {
  return `incidents://${handleOf(number)}`;
}

export interface IncidentRecord extends Omit<Incident, "number"> {
  readonly id: string;
}

export function recordOf({ number, ...rest }: Incident): IncidentRecord {
  return { id: handleOf(number), ...rest };
}

/** A row of a list: descriptions are long, and read one at a time. */
export function rowOf(incident: Incident): Omit<IncidentRecord, "description"> {
  const { description, ...row } = recordOf(incident);
  return row;
}
