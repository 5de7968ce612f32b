/** What a server process inherits: enough to run, and none of the secrets that tend to sit in an environment. */

/** Inherited on POSIX systems, with every variable that begins with `LC_`. */
const POSIX = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
/** Inherited on Windows. */
const WINDOWS = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "TZ",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/** The environment of a server process: what it inherits, and over that what the caller gave. */
export function serverEnvironment(
  given: Readonly<Record<string, string | undefined>> | undefined,
  inheritAll: boolean,
  from: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  if (inheritAll) return { ...from, ...given };
  const inherited: NodeJS.ProcessEnv = {};
  const names = platform === "win32" ? WINDOWS : POSIX;
  for (const [name, value] of Object.entries(from)) {
    // Names have no case on Windows: it is usually `Path`.
    const known = names.includes(platform === "win32" ? name.toUpperCase() : name);
    if (known || (platform !== "win32" && name.startsWith("LC_"))) inherited[name] = value;
  }
  return { ...inherited, ...given };
}
