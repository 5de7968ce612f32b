/** Credentials in a file that only its owner can read, shared by all processes that name it. */
import { AuthError, messageOf } from "./auth-error.js";
import { withLockFile } from "./lock-file.js";
import { type AuthStore, createTurns, type StoredRecord } from "./store.js";

/** The version of the form of the file. */
const FORM = 1;
const OTHERS = 0o077;

interface Entry {
  readonly version: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type Entries = Readonly<Record<string, Entry>>;

/**
 * Keeps credentials in a file, with mode 0600, which is made with its folder at the first write. Any number of
 * processes may share it: every write replaces it whole, and a refresh is done by one of them for all.
 *
 * @throws TypeError where the path is not absolute. What is kept is refused with an AuthError, `store_failed`, where
 *   others can read it, or it is no such file.
 * @example const store = fileStore(join(homedir(), ".config", "example", "credentials.json"));
 */
export function fileStore(path: string): AuthStore {
  if (typeof path !== "string" || !/^([/\\]|[A-Za-z]:[/\\])/.test(path)) {
    throw new TypeError(`fileStore: expected an absolute path, got ${JSON.stringify(path)}`);
  }
  const inTurn = createTurns();
  const never = new AbortController().signal;

  const failed = (what: string, cause?: unknown): AuthError =>
    new AuthError("store_failed", `The credentials in ${path} ${what}`, { cause });

  async function load(): Promise<Entries> {
    const { open } = await import("node:fs/promises");
    let text: string;
    try {
      const file = await open(path, "r");
      try {
        const { mode } = await file.stat();
        if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
          const bits = (mode & 0o777).toString(8).padStart(4, "0");
          throw failed(`can be read by others: its mode is ${bits}, expected 0600; chmod 600 mends that`);
        }
        text = await file.readFile("utf8");
      } finally {
        await file.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error instanceof AuthError ? error : failed(`cannot be read: ${messageOf(error)}`, error);
    }
    return readEntries(text);
  }

  function readEntries(text: string): Entries {
    let file: { mica?: unknown; records?: unknown };
    try {
      file = JSON.parse(text) as object;
    } catch (error) {
      throw failed(`are not JSON: ${messageOf(error)}`, error);
    }
    if (
      typeof file !== "object" ||
      file === null ||
      typeof file.records !== "object" ||
      file.records === null
    ) {
      throw failed("are not in a file of Mica: expected the members mica and records");
    }
    if (file.mica !== FORM) {
      throw failed(
        `are in a form that is not known here: expected ${FORM}, got ${JSON.stringify(file.mica)}`,
      );
    }
    return file.records as Entries;
  }

  async function save(records: Entries, isHeld: () => Promise<boolean>): Promise<void> {
    const { open, rename, rm } = await import("node:fs/promises");
    // Only one writes at a time, so that one name is enough and nothing is left lying about.
    const fresh = `${path}.new`;
    await rm(fresh, { force: true });
    const file = await open(fresh, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ mica: FORM, records }, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // What somebody else has written since must not be undone.
    if (!(await isHeld())) throw failed("were written by somebody else while this process stood still");
    await rename(fresh, path);
  }

  async function change<T>(
    work: (records: Entries, isHeld: () => Promise<boolean>) => Promise<T>,
  ): Promise<T> {
    const { makeDirectory } = await import("./make-directory.js");
    const { dirname } = await import("node:path");
    try {
      await makeDirectory(dirname(path), 0o700);
      return await inTurn(
        "file",
        () => withLockFile(`${path}.lock`, async (isHeld) => work(await load(), isHeld), never),
        never,
      );
    } catch (error) {
      throw error instanceof AuthError ? error : failed(`cannot be written: ${messageOf(error)}`, error);
    }
  }

  return {
    async read(key): Promise<StoredRecord | undefined> {
      const records = await load();
      return Object.hasOwn(records, key) ? records[key] : undefined;
    },
    write: (key, value, version) =>
      change(async (records, isHeld) => {
        const current = Object.hasOwn(records, key) ? records[key] : undefined;
        if (current?.version !== version) return false;
        const { [key]: _, ...others } = records;
        await save(
          value === undefined ? others : { ...others, [key]: { version: crypto.randomUUID(), value } },
          isHeld,
        );
        return true;
      }),
    exclusively: (key, work, signal) =>
      inTurn(
        key,
        async () => {
          const { makeDirectory } = await import("./make-directory.js");
          const { createHash } = await import("node:crypto");
          const { dirname } = await import("node:path");
          await makeDirectory(dirname(path), 0o700);
          // Keys are URLs, which are no names of files.
          const name = createHash("sha256").update(key).digest("hex").slice(0, 16);
          return withLockFile(`${path}.${name}.lock`, () => work(), signal);
        },
        signal,
      ),
  };
}
