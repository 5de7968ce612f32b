/** What SQLite and the file system say, in sentences for whoever runs the server. */
import { statSync } from "node:fs";
import { StoreError } from "./store-error.js";

/**
 * The failure to show for an error, or the error itself where there is no sentence for it.
 *
 * @param what begins the sentence, e.g. `Database /data/incidents.sqlite`
 * @param file the file that is being opened, for whoever chose it
 * @example throw explain(error, "The incident log's database");
 */
export function explain(error: unknown, what: string, file?: string): unknown {
  const sentence = explanation(error, what, file);
  return sentence === undefined ? error : new StoreError(sentence, { cause: error });
}

/** Whether another connection kept the file locked for as long as this one would wait. */
export function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code).startsWith("SQLITE_BUSY");
}

interface Failure {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
}

function explanation(error: unknown, what: string, file: string | undefined): string | undefined {
  if (error instanceof StoreError) return undefined;
  const { code, message, syscall } = (error ?? {}) as Failure;
  if (isUnbuilt(code, message))
    return "The SQLite addon is not built for this Node: run npm rebuild better-sqlite3";
  if (typeof code !== "string") return undefined;
  if (code.startsWith("SQLITE_")) return ofSqlite(code, String(message), what, file);
  // Errors of Node itself, such as ERR_INVALID_ARG_TYPE, are mistakes in the program.
  return typeof syscall === "string" ? ofFileSystem(code, String(message), what, syscall) : undefined;
}

function isUnbuilt(code: unknown, message: unknown): boolean {
  if (code === "ERR_DLOPEN_FAILED" || code === "MODULE_NOT_FOUND") return true;
  return typeof message === "string" && message.startsWith("Could not locate the bindings file");
}

function ofSqlite(code: string, message: string, what: string, file: string | undefined): string | undefined {
  if (file !== undefined && code.startsWith("SQLITE_CANTOPEN") && isFolder(file))
    return `${what} is a folder: a file was expected`;
  // Extended codes begin with the code that they refine.
  const known = Object.keys(sqliteReasons).find((prefix) => code.startsWith(prefix));
  if (known !== undefined) return `${what} ${sqliteReasons[known]}`;
  // Whoever chose the file gets to read what SQLite says of it; other callers do not.
  return file && `${what} cannot be used: ${message} (${code})`;
}

const NOT_PERMITTED = "cannot be opened: check the permissions of the file and its folder";

const sqliteReasons: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: "is not a SQLite database",
  SQLITE_CORRUPT: "is damaged: restore it from a backup, or recover it with sqlite3's .recover",
  SQLITE_CANTOPEN: NOT_PERMITTED,
  SQLITE_READONLY: "cannot be written: check the permissions of the file and its folder",
  SQLITE_PERM: "cannot be opened: permission denied",
  SQLITE_BUSY: "is busy: another process keeps it locked",
  SQLITE_FULL: "cannot grow: the disk is full",
  SQLITE_IOERR: "cannot be read or written: the disk reports an error",
};

function ofFileSystem(code: string, message: string, what: string, syscall: string): string {
  const reason = fileSystemReasons[code] ?? message;
  if (syscall === "mkdir" || syscall === "stat") return `${what}: its folder cannot be created: ${reason}`;
  return `${what} ${reason === DENIED ? NOT_PERMITTED : `cannot be created: ${reason}`}`;
}

const DENIED = "permission denied";

const fileSystemReasons: Readonly<Record<string, string>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: "the file system is read-only",
  ENOTDIR: "something on the way to it is a file",
  EEXIST: "a file has its name",
  ENAMETOOLONG: "its path is too long",
  ENOSPC: "the disk is full",
};

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
