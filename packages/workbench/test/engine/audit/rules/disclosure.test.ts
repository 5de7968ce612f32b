/** What gives away a machine is recognized in the words of many runtimes, and its look-alikes are not. */
import { describe, expect, it } from "vitest";
import { foldersOf, stringsIn } from "../../../../src/engine/audit/rules/disclosure.js";
import {
  absolutePath,
  connectionPassword,
  connectionString,
  masked,
  privateAddress,
  type Recognizer,
  secret,
  stackTrace,
  withoutPassword,
} from "../../../../src/engine/audit/rules/disclosure-patterns.js";

const nothingKnown = () => false;
const finds = (recognize: Recognizer, text: string) => recognize(text, nothingKnown)?.text;

/** Put together here, so that nobody who looks for secrets finds one in this file. */
const AWS = ["AKIA", "Q3EGT7ZV", "JXW2MDPL"].join("");
const GITHUB = `ghp_${"aB3dE6fG9h".repeat(4)}`;

describe("stack traces", () => {
  it.each([
    ["Node", "Error: x\n    at run (/srv/app/index.js:10:3)"],
    ["Node, modules", "Error: x\n    at async file:///srv/app/index.js:10:3"],
    ["Node, Windows", "Error: x\n    at run (C:\\app\\index.js:10:3)"],
    ["Python", 'Traceback (most recent call last):\n  File "/app/x.py", line 3, in f'],
    ["Java", "java.lang.NullPointerException\n\tat com.example.Notes.find(Notes.java:42)"],
    ["Go", "panic: x\n\ngoroutine 1 [running]:\nmain.main()"],
    ["Rust", "thread 'main' panicked at src/main.rs:2:5"],
    [".NET", "System.Exception: x\n   at Notes.Find() in /src/Notes.cs:line 12"],
    ["PHP", "#0 /var/www/notes.php(12): find()"],
    ["Ruby", "notes.rb:3:in `find'\n\tfrom /app/notes.rb:9:in `<main>'"],
  ])("%s", (_, text) => expect(finds(stackTrace, text)).toBeDefined());

  it.each([
    "Look at https://example.com:443:1",
    "at 10:30 (see notes)",
    'the file "x", line 3',
    "  at the end",
  ])("none in: %s", (text) => expect(finds(stackTrace, text)).toBeUndefined());
});

describe("paths", () => {
  it.each([
    ["cannot open /home/ann/notes.txt", "/home/ann/notes.txt"],
    ["open '/srv/app/data/a.db'", "/srv/app/data/a.db"],
    ["cannot find module '/app/dist/index.js'", "/app/dist/index.js"],
    ["C:\\Users\\ann\\notes.txt is locked", "C:\\Users\\ann\\notes.txt"],
  ])("%s", (text, path) => expect(finds(absolutePath, text)).toBe(path));

  it.each([
    "see https://example.com/home/page",
    "file:///home/ann/notes.txt was not found",
    "notes://home/ann",
    "either/or, and/var/ious",
    "unknown path /notes/1",
    "404 from /app/users/1",
    "no such route: /data/items",
    "./src/app/index.js",
  ])("none in: %s", (text) => expect(finds(absolutePath, text)).toBeUndefined());
});

describe("addresses", () => {
  it.each([
    "10.0.0.5",
    "192.168.1.20:8080",
    "172.16.0.1",
    "169.254.169.254",
    "127.0.0.1:5432",
    "localhost:6379",
  ])("%s", (address) => expect(finds(privateAddress, `connect ECONNREFUSED ${address}`)).toBe(address));
  it.each(["8.8.8.8", "172.32.0.1", "version 110.0.0.1", "localhost", "127.0.0.1", "v2.10.0.0.1"])(
    "not %s",
    (text) => expect(finds(privateAddress, text)).toBeUndefined(),
  );
});

describe("connection strings", () => {
  it("are recognized, and shown without their password", () => {
    const text = "cannot reach postgres://ann:hunter2@db.internal/notes";
    expect(finds(connectionString, text)).toBe("postgres://ann:hunter2@db.internal/notes");
    expect(withoutPassword("postgres://ann:hunter2@db.internal/notes")).toBe(
      "postgres://ann:***@db.internal/notes",
    );
    expect(finds(connectionString, "Server=db;Database=notes;Password=hunter2")).toBeDefined();
  });

  it("of which ordinary texts may have those without a password, and examples", () => {
    expect(finds(connectionPassword, "mysql://root:s3cr3tValue@10.0.0.1/notes")).toBeDefined();
    for (const text of [
      "redis://localhost:6379",
      "postgres://user:password@localhost/db",
      "postgres://user:<password>@host/db",
      "https://user:$TOKEN@host/x",
      "postgres://ann:abc123@db.example.com/notes",
    ])
      expect(finds(connectionPassword, text), text).toBeUndefined();
  });
});

describe("secrets", () => {
  it.each([
    AWS,
    GITHUB,
    `sk-proj-${"aB3dE6fG9h".repeat(4)}`,
    `xoxb-${"2345678901-".repeat(2)}abcdefghij`,
    `AIza${"aB3dE6f".repeat(5)}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEpAIBAAKCAQEA"}`,
  ])("%s", (text) => expect(finds(secret, `key: ${text}`)).toBeDefined());

  it.each([
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-...",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA",
    "the prefix ghp_ of tokens",
    "00000000-0000-4000-8000-000000000000",
  ])("not %s", (text) => expect(finds(secret, text)).toBeUndefined());

  it("are not repeated in a report", () => {
    expect(masked(AWS)).not.toContain(AWS.slice(8));
    expect(masked(AWS)).toContain(AWS.slice(0, 4));
  });
});

it("what was sent may come back", () => {
  expect(absolutePath("no /home/ann/x here", (part) => part === "/home/ann/x")).toBeUndefined();
});

it("data in Base64 is not read as text", () => {
  const content = [
    { type: "image", data: GITHUB, mimeType: "image/png" },
    { type: "text", text: "said" },
  ];
  expect(stringsIn({ content })).not.toContain(GITHUB);
  expect(stringsIn({ content })).toContain("said");
});

it("a path is known to whoever named a folder of it, but for those that every machine has", () => {
  expect(foldersOf("/home/ann/notes/a.txt")).toEqual(["/home/ann", "/home/ann/notes"]);
  expect(foldersOf("/tmp/a")).toEqual([]);
  expect(foldersOf("C:\\Users\\ann\\a.txt")).toEqual(["C:\\Users\\ann"]);
});
