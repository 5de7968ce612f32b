/** SHA-256 of a skill's files, in the form of SEP-2640. */

/** @example await digestOf(new TextEncoder().encode("")) // "sha256:e3b0c442..." */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
