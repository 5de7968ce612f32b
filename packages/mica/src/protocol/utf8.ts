/** Whether bytes are UTF-8 (transports, "JSON-RPC messages MUST be UTF-8 encoded"). Pure. */

/** By the standard decoder: an import of `node:buffer` would cost every start some two milliseconds. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
