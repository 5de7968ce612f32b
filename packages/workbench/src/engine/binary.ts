/** Binary content: decoded strictly, named safely, saved without overwriting anything. */
import { access, constants, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "./make-directory.js";
import { OutputError } from "./output-error.js";
import { UsageError } from "./usage-error.js";

/** Bytes of base64 (RFC 4648, section 4), or undefined where it is something else. */
export function decodeBase64(text: string): Buffer | undefined {
  const well = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  return well ? Buffer.from(text, "base64") : undefined;
}

/** `12.3 kB`: units of a thousand. */
export function sizeText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${units[unit]}`;
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["application/gzip", "gz"],
  ["application/json", "json"],
  ["application/pdf", "pdf"],
  ["application/zip", "zip"],
  ["audio/mp4", "m4a"],
  ["audio/mpeg", "mp3"],
  ["audio/ogg", "ogg"],
  ["audio/wav", "wav"],
  ["audio/webm", "webm"],
  ["image/gif", "gif"],
  ["image/jpeg", "jpg"],
  ["image/png", "png"],
  ["image/svg+xml", "svg"],
  ["image/webp", "webp"],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
]);

/** A file name out of what a server calls a thing: never a path, never hidden, never long. */
export function safeFileName(name: string, mimeType: string | undefined): string {
  const last = name.split(/[?#]/, 1)[0]?.split(/[/\\]/).filter(Boolean).at(-1) ?? "";
  const plain =
    last
      .replace(/[^\w.-]+/g, "-")
      .replace(/^[.-]+|[.-]+$/g, "")
      .slice(0, 80) || "content";
  if (/\.[A-Za-z0-9]{1,8}$/.test(plain)) return plain;
  const essence = (mimeType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return `${plain}.${EXTENSIONS.get(essence) ?? (essence.startsWith("text/") ? "txt" : "bin")}`;
}

/**
 * Makes the directory that output is to go to, before anything is called.
 *
 * @throws UsageError where it cannot be written to.
 */
export async function prepareDirectory(directory: string): Promise<void> {
  try {
    makeDirectory(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const message = `cannot write to ${JSON.stringify(directory)}: ${(error as Error).message}`;
    throw new UsageError(`--out: ${message}`, [{ path: "--out", message }]);
  }
}

/**
 * Saves under a name that is free: `chart.png`, `chart-2.png` and so on.
 *
 * @throws OutputError
 * @returns The path of the file.
 */
export async function save(directory: string, fileName: string, data: Uint8Array | string): Promise<string> {
  const dot = fileName.lastIndexOf(".");
  const [stem, extension] = dot > 0 ? [fileName.slice(0, dot), fileName.slice(dot)] : [fileName, ""];
  for (let attempt = 1; ; attempt += 1) {
    const path = join(directory, attempt === 1 ? fileName : `${stem}-${attempt}${extension}`);
    try {
      await writeFile(path, data, { flag: "wx" });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      throw new OutputError(`cannot save ${path}: ${(error as Error).message}`, { cause: error });
    }
  }
}
