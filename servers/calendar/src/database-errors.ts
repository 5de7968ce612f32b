/** What SQLite and the file system say, in one line for the person who named the file. */
/** A file that cannot be used. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}

/** Whether another connection kept the file locked for as long as this one would wait. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

/** The error to show for one that came while opening `file`. */
export function explained(error: unknown, file: string): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === "ERR_DLOPEN_FAILED" || message.startsWith("Could not locate the bindings file")) {
    const rebuild = "the SQLite addon is not built for this Node: run npm rebuild better-sqlite3";
    return new DatabaseError(rebuild, { cause: error });
  }
  // Extended codes begin with the code that they refine.
  const known = Object.keys(REASONS).find((prefix) => code.startsWith(prefix));
  const reason = known === undefined ? `${message}${code && ` (${code})`}` : REASONS[known];
  return new DatabaseError(`database ${file} cannot be used: ${reason}`, { cause: error });
}

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: "it is not an SQLite database",
  SQLITE_CORRUPT: "it is damaged; restore it from a backup, or recover it with sqlite3's .recover",
  SQLITE_BUSY: "another program keeps it locked",
  SQLITE_READONLY: "this user may not write to the file or its folder",
  SQLITE_CANTOPEN: "this user may not write to the file or its folder",
  SQLITE_FULL: "the disk is full",
  SQLITE_IOERR: "the disk reports an error",
  EISDIR: "it is a folder, and a file was expected",
  EACCES: "this user may not write to the file or its folder",
  EPERM: "this user may not write to the file or its folder",
  EROFS: "the file system is read-only",
  ENOTDIR: "something on the way to it is a file",
  EEXIST: "something on the way to it is a file",
  ENOENT: "its folder cannot be made",
  ENAMETOOLONG: "its path is too long",
  ENOSPC: "the disk is full",
};

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}
