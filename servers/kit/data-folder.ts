/** Where a program keeps its data on each platform. */
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

export interface DataFolderSurroundings {
  readonly platform?: NodeJS.Platform;
  readonly env?: NodeJS.ProcessEnv;
  readonly home?: string;
}

/**
 * The folder for the data of `name`: under `XDG_DATA_HOME` or `~/.local/share`, on macOS
 * `~/Library/Application Support`, on Windows `%LOCALAPPDATA%`. It need not exist.
 */
export function dataFolder(name: string, surroundings: DataFolderSurroundings = {}): string {
  const { platform = process.platform, env = process.env, home = homedir() } = surroundings;
  if (platform === "win32")
    return win32.join(env["LOCALAPPDATA"] || win32.join(home, "AppData", "Local"), name);
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", name);
  const given = env["XDG_DATA_HOME"] ?? "";
  // "If an implementation encounters a relative path in any of these variables it should ... ignore it" (XDG).
  return posix.join(posix.isAbsolute(given) ? given : posix.join(home, ".local", "share"), name);
}
