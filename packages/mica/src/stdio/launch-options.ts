/** What is said of a server process that is to be started, and the checks of it. */
import { type StdioLimits, stdioLimits } from "./limits.js";

export interface LaunchOptions
  extends Partial<Omit<StdioLimits, "maxInFlight" | "maxQueuedChars" | "drainMs">> {
  /** The program: a path, or a name that is looked up on the PATH. No shell is involved. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /**
   * Variables for the server, over what it inherits: HOME, LANG, LC_*, LOGNAME, PATH, SHELL, TERM, TMPDIR, TZ and
   * USER; on Windows APPDATA, COMSPEC, HOMEDRIVE, HOMEPATH, LOCALAPPDATA, PATH, PATHEXT, PROCESSOR_ARCHITECTURE,
   * PROGRAMDATA, PROGRAMFILES, SYSTEMDRIVE, SYSTEMROOT, TEMP, TMP, TZ, USERNAME, USERPROFILE and WINDIR.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether the server inherits the whole environment. Default: false, because it may hold secrets. */
  readonly inheritEnv?: boolean | undefined;
  /** Default: the working directory of this process. */
  readonly cwd?: string | undefined;
  /**
   * What happens to the server's stderr, besides that its last lines are kept for error messages: printed on this
   * process's (`inherit`), not even kept (`ignore`), or handed over line by line. Default: only kept.
   */
  readonly stderr?: "inherit" | "ignore" | ((line: string) => void) | undefined;
  /** Told of each line of stdout that is no message, or belongs to nothing. Default: a line on stderr, 20 at most. */
  readonly onStray?: ((text: string) => void) | undefined;
  /** Whether the next exchange after the end of the process starts it again. Default: true. */
  readonly restart?: boolean | undefined;
}

/** @throws TypeError naming the option that is unusable. */
export function checkLaunch(options: LaunchOptions): StdioLimits {
  const { command, args = [] } = options;
  if (typeof command !== "string" || command === "") {
    throw new TypeError(
      `options.command must be the name or path of a program; got ${JSON.stringify(command)}`,
    );
  }
  if (!Array.isArray(args) || args.some((arg) => typeof arg !== "string")) {
    throw new TypeError(`options.args must be an array of strings; got ${JSON.stringify(args)}`);
  }
  return stdioLimits(options);
}
