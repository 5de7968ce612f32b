/** What an incident is, and what the server needs of whatever keeps incidents. */
export { StoreError } from "../../kit/store-error.js";

export const SEVERITIES = ["sev1", "sev2", "sev3", "sev4"] as const;
export type Severity = (typeof SEVERITIES)[number];

export const STATES = ["open", "resolved"] as const;
export type IncidentState = (typeof STATES)[number];

export interface NewIncident {
  readonly title: string;
  readonly severity: Severity;
  readonly description?: string | undefined;
}

export interface Incident {
  /** From 1, in the order of opening, never used twice. Its handle is `INC-` and this number. */
  readonly number: number;
  readonly title: string;
  readonly severity: Severity;
  readonly state: IncidentState;
  /** UTC, ISO 8601, to the second; so is `resolvedAt`. */
  readonly openedAt: string;
  readonly description?: string;
  /** Present once it is resolved, as is `cause`. */
  readonly resolvedAt?: string;
  readonly cause?: string;
}

export interface IncidentQuery {
  /** Words that title, description or cause must all contain; a handle finds its incident. */
  readonly text?: string | undefined;
  readonly severity?: Severity | undefined;
  readonly state?: IncidentState | undefined;
  /** Only incidents with a lower number, for the page after one that ended there. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface IncidentPage {
  /** Newest first. */
  readonly incidents: readonly Incident[];
  /** Whether there are older ones. */
  readonly more: boolean;
}

/** The incidents of one tenant. Those of others are to it as if they were not there, except that numbers are used once. */
export interface IncidentsOfTenant {
  open(incident: NewIncident): Promise<Incident>;
  /**
   * Resolves an incident, or returns it as it is where it was resolved already: the first cause stands.
   * Undefined where there is none of this number.
   */
  resolve(number: number, cause: string): Promise<Incident | undefined>;
  find(number: number): Promise<Incident | undefined>;
  search(query: IncidentQuery): Promise<IncidentPage>;
  countOpen(): Promise<number>;
  /** Numbers of open incidents that begin with these digits, newest first. */
  openNumbers(digits: string, limit: number): Promise<number[]>;
}

/** That an incident was opened or resolved. */
export interface IncidentChange {
  readonly number: number;
  readonly tenant: string;
}

/**
 * Keeps incidents where they outlive the process, and where other processes may read and write them at any time.
 * Every method throws {@link StoreError} for failures that its caller can act on.
 */
export interface IncidentStore {
  /**
   * The incidents of a tenant: any text, which nobody has to create.
   *
   * @example const { incidents } = await store.of("").search({ state: "open", limit: 20 });
   */
  of(tenant: string): IncidentsOfTenant;
  /**
   * Calls `onChange` with what is opened or resolved from now on, of all tenants and by whichever process; for writes
   * of this store before they resolve. The returned function ends that. `onChange` must not throw.
   */
  watch(onChange: (changes: readonly IncidentChange[]) => void): () => void;
  /** Ends all use of the store. Has taken effect when it returns; safe to call twice. */
  close(): Promise<void>;
}
