/** What SQLite and the file system say, in sentences for whoever runs the server. */
import { statSync } from "node:fs";
import { StoreError } from "./store.js";

/**
 * The failure to show for an error, or the error itself where there is no sentence for it.
 *
 * @param what begins the sentence, e.g. `Database /data/incidents.sqlite`
 * @param file the file that is being opened, for whoever chose it
 */
export function explain(error: unknown, what: string, file?: string): unknown {
  const sentence = explanation(error, what, file);
  return sentence === undefined ? error : new StoreError(sentence, { cause: error });
}

function explanation(error: unknown, what: string, file: string | undefined): string | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (error instanceof StoreError || typeof code !== "string")
    return isUnbuilt(message) ? UNBUILT : undefined;
  if (code === "ERR_DLOPEN_FAILED" || code === "MODULE_NOT_FOUND") return UNBUILT;
  if (!code.startsWith("SQLITE_")) return fileSystemReasons[code] && `${what}: ${fileSystemReasons[code]}`;
  // Extended codes begin with the code that they refine.
  const known = Object.keys(sqliteReasons).find((prefix) => code.startsWith(prefix));
  const reason = known === undefined ? undefined : sqliteReasons[known];
  // Whoever chose the file gets to read what SQLite says of it; other callers do not.
  if (reason === undefined) return file && `${what} cannot be used: ${String(message)} (${code})`;
  return `${what} ${typeof reason === "string" ? reason : reason(file)}`;
}

const UNBUILT = "The SQLite addon is not built for this Node: run npm rebuild better-sqlite3";

function isUnbuilt(message: unknown): boolean {
  return typeof message === "string" && message.startsWith("Could not locate the bindings file");
}

const sqliteReasons: Record<string, string | ((file: string | undefined) => string)> = {
  SQLITE_NOTADB: "is not a SQLite database",
  SQLITE_CORRUPT: "is damaged: restore it from a backup, or recover it with sqlite3's .recover",
  SQLITE_CANTOPEN: (file) =>
    isFolder(file)
      ? "is a folder: a file was expected"
      : "cannot be opened: check the permissions of the file and its folder",
  SQLITE_READONLY: "cannot be written: check the permissions of the file and its folder",
  SQLITE_PERM: "cannot be opened: permission denied",
  SQLITE_BUSY: "is busy: another process keeps it locked",
  SQLITE_FULL: "cannot grow: the disk is full",
  SQLITE_IOERR: "cannot be read or written: the disk reports an error",
};

const fileSystemReasons: Record<string, string> = {
  EACCES: "its folder cannot be created: permission denied",
  EPERM: "its folder cannot be created: permission denied",
  EROFS: "its folder cannot be created: the file system is read-only",
  ENOTDIR: "its folder cannot be created: something on the way to it is a file",
  EEXIST: "its folder cannot be created: a file has its name",
  ENOENT: "its folder cannot be created",
  ENAMETOOLONG: "its path is too long",
  ENOSPC: "its folder cannot be created: the disk is full",
};

function isFolder(file: string | undefined): boolean {
  return file !== undefined && (statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false);
}
