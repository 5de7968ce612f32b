/** Where the data of a program lie, by platform. */
import { describe, expect, it } from "vitest";
import { dataFolder } from "../data-folder.js";

describe("dataFolder", () => {
  it.each([
    ["linux", {}, "/home/ada/.local/share/log"],
    ["linux", { XDG_DATA_HOME: "/data" }, "/data/log"],
    ["linux", { XDG_DATA_HOME: "relative" }, "/home/ada/.local/share/log"],
    ["freebsd", {}, "/home/ada/.local/share/log"],
    ["darwin", { XDG_DATA_HOME: "/data" }, "/home/ada/Library/Application Support/log"],
    ["win32", { LOCALAPPDATA: "C:\\Users\\ada\\Local" }, "C:\\Users\\ada\\Local\\log"],
    ["win32", {}, "\\home\\ada\\AppData\\Local\\log"],
  ] as const)("on %s with %j is %s", (platform, env, expected) => {
    expect(dataFolder("log", { platform, env, home: "/home/ada" })).toBe(expected);
  });
});
