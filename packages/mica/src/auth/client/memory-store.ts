/** Credentials for as long as this process lives. */
import { type AuthStore, createTurns, type StoredRecord } from "./store.js";

/**
 * Keeps credentials in memory.
 *
 * @example const auth = clientCredentials({ clientId, clientSecret, issuer, store: memoryStore() });
 */
export function memoryStore(): AuthStore {
  const records = new Map<string, { readonly json: string; readonly version: string }>();
  const exclusively = createTurns();
  let lastVersion = 0;
  return {
    async read(key): Promise<StoredRecord | undefined> {
      const record = records.get(key);
      // Parsed anew for each: nobody changes what another one holds.
      return record && { value: JSON.parse(record.json), version: record.version };
    },
    async write(key, value, version) {
      if (records.get(key)?.version !== version) return false;
      lastVersion += 1;
      if (value === undefined) records.delete(key);
      else records.set(key, { json: JSON.stringify(value), version: String(lastVersion) });
      return true;
    },
    exclusively,
  };
}
