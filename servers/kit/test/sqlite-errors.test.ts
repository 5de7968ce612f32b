/** What is said of a failure, and to whom. */
import type { Database } from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { openSqlite } from "../sqlite.js";
import { explain, isBusy } from "../sqlite-errors.js";
import { StoreError } from "../store-error.js";
import { NOTES_FORMAT } from "./fixtures/notes.js";

describe("explain", () => {
  function failureOf(work: (db: Database) => unknown): unknown {
    const db = openSqlite(":memory:", NOTES_FORMAT, (opened) => opened);
    try {
      work(db);
    } catch (error) {
      return error;
    } finally {
      db.close();
    }
    throw new Error("nothing failed");
  }
  const sentence = (error: unknown, file?: string) => (explain(error, "The database", file) as Error).message;

  it("tells a caller what they can act on, and keeps the cause", () => {
    const full = failureOf((db) => {
      db.pragma(`max_page_count = ${db.pragma("page_count", { simple: true })}`);
      for (;;) db.prepare("INSERT INTO notes VALUES (?)").run("x".repeat(1000));
    });
    expect(sentence(full)).toBe("The database cannot grow: the disk is full");
    expect(explain(full, "It")).toMatchObject({ name: "StoreError", cause: full });
  });

  it("tells of anything else only whoever chose the file", () => {
    const wrong = failureOf((db) => db.exec("SELECT * FROM missing"));
    expect(explain(wrong, "The database")).toBe(wrong);
    expect(sentence(wrong, "notes.sqlite")).toBe(
      "The database cannot be used: no such table: missing (SQLITE_ERROR)",
    );
  });

  it("leaves mistakes in the program as they are", () => {
    const mistakes = [
      new TypeError("no"),
      Object.assign(new TypeError("no"), { code: "ERR_INVALID_ARG_TYPE" }),
    ];
    for (const mistake of [...mistakes, new StoreError("said already"), "thrown", undefined, null])
      expect(explain(mistake, "The database", "notes.sqlite")).toBe(mistake);
  });

  it("knows an addon that is not built for this Node", () => {
    for (const error of [
      Object.assign(new Error("compiled against a different Node.js version"), { code: "ERR_DLOPEN_FAILED" }),
      new Error("Could not locate the bindings file. Tried: ..."),
    ]) {
      expect(sentence(error)).toBe(
        "The SQLite addon is not built for this Node: run npm rebuild better-sqlite3",
      );
    }
  });

  it("knows a lock by its code, extended ones included", () => {
    expect(isBusy(Object.assign(new Error(), { code: "SQLITE_BUSY_SNAPSHOT" }))).toBe(true);
    for (const error of [new Error("SQLITE_BUSY"), Object.assign(new Error(), { code: "EBUSY" }), null])
      expect(isBusy(error)).toBe(false);
  });
});
