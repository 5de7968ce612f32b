/**
 * stdout belongs to the protocol: "The server MUST NOT write anything to its stdout that is not a valid MCP
 * message" (transports/stdio). What else the process prints goes to stderr.
 */

/** A taken stdout: the only way to write to it, until it is given back. */
export interface OwnStdout {
  write(text: string, done?: () => void): boolean;
  restore(): void;
}

/**
 * Takes `process.stdout.write`, and with it `console.log`, `console.info`, `console.debug` and streams that are
 * piped to stdout. Writes to file descriptor 1 itself, and child processes that inherit it, are out of its reach.
 */
export function takeStdout(): OwnStdout {
  const { stdout } = process;
  const before = Object.getOwnPropertyDescriptor(stdout, "write");
  const write = stdout.write.bind(stdout);
  stdout.write = ((...args: Parameters<typeof stdout.write>) =>
    stderr().write(...args)) as typeof stdout.write;
  return {
    write: (text, done) => write(text, done),
    restore() {
      if (before) Object.defineProperty(stdout, "write", before);
      else delete (stdout as Partial<typeof stdout>).write;
    },
  };
}

let guarded = false;

/** This process's stderr. Where it is closed there is nowhere left to print to, which is no reason to crash. */
export function stderr(): NodeJS.WriteStream {
  if (!guarded) process.stderr.on("error", () => {});
  guarded = true;
  return process.stderr;
}
