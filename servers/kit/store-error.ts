/** The failure that a person can act on. */

/** A failure to be shown, in one line: it says what is wrong and where. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}
