/** Base64 for URLs, without padding (RFC 4648, section 5): by Buffer where there is one, which takes a tenth of the time. */

export function toBase64Url(bytes: Uint8Array): string {
  if (typeof Buffer !== "undefined")
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Undefined where the text is not what {@link toBase64Url} makes: one value has one spelling. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = decode(text);
  // Unused bits of the last character must be zero, and a decoder may leave out what it does not know.
  return bytes !== undefined && toBase64Url(bytes) === text ? bytes : undefined;
}

function decode(text: string): Uint8Array | undefined {
  if (typeof Buffer !== "undefined") return Buffer.from(text, "base64url");
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
