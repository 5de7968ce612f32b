/** Asking the store on behalf of a caller, who gets to read what it has to say. */
import { ToolError } from "mica-mcp";
import { handleOf, numberOf } from "./handle.js";
import { type Incident, type IncidentsOfTenant, StoreError } from "./store.js";

/**
 * The incident of a handle. One of another tenant is like none.
 *
 * @throws ToolError where the handle is malformed, or there is no such incident.
 */
export async function existing(log: IncidentsOfTenant, id: string): Promise<Incident> {
  const number = numberOf(id.trim());
  if (number === undefined) {
    const shown = JSON.stringify(id.length > 60 ? `${id.slice(0, 57)}...` : id);
    throw new ToolError(`${shown} is no handle: expected one like INC-3. Call search_incidents to find it.`);
  }
  const incident = await told(log.find(number));
  if (incident !== undefined) return incident;
  throw new ToolError(`No incident ${handleOf(number)}. Call search_incidents to find it.`);
}

/** @throws ToolError with the words of a StoreError. */
export async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof StoreError ? new ToolError(`${error.message}.`) : error;
  }
}
