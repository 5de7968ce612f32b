/** A store as it is without authentication, for tests that are about something else: one tenant, and only numbers. */
import { openSqliteStore, type SqliteStoreOptions } from "../src/sqlite-store.js";
import type { IncidentsOfTenant } from "../src/store.js";
import { NOBODY } from "../src/tenant.js";

export interface OneTenant extends IncidentsOfTenant {
  watch(onChange: (numbers: readonly number[]) => void): () => void;
  close(): Promise<void>;
}

export function openOneTenant(file: string, options?: SqliteStoreOptions): OneTenant {
  const store = openSqliteStore(file, options);
  return {
    ...store.of(NOBODY),
    watch: (onChange) => store.watch((changes) => onChange(changes.map(({ number }) => number))),
    close: store.close,
  };
}
