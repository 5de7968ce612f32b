/** The environment of a server process that is looked at byte by byte: that of every other verb. */

/** Enough to run, and none of the secrets that tend to sit in an environment. */
const INHERITED =
  process.platform === "win32"
    ? /^(APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATH|PATHEXT|PROCESSOR_ARCHITECTURE|PROGRAMDATA|PROGRAMFILES|SYSTEMDRIVE|SYSTEMROOT|TEMP|TMP|TZ|USERNAME|USERPROFILE|WINDIR)$/i
    : /^(HOME|LANG|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER|LC_.*)$/;

export function childEnvironment(
  given: Readonly<Record<string, string>>,
  from: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(from).filter(([name]) => INHERITED.test(name));
  return { ...Object.fromEntries(inherited), ...given };
}
