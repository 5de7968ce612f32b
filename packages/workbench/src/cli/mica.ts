#!/usr/bin/env node
/** The command `mica`. */
import { run } from "./run.js";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const interruption = new AbortController();
const end = (exitCode: number) => {
  // The first signal ends the command in good order, the second one at once.
  if (interruption.signal.aborted) process.exit(exitCode);
  interruption.abort(exitCode);
};
for (const [signal, exitCode] of Object.entries(SIGNALS)) process.on(signal, () => end(exitCode));

// Made when it is read, because making a stream of it takes time.
const streams = {
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  interrupt: () => end(SIGNALS.SIGINT),
};
const exitCode = await run(process.argv.slice(2), streams, interruption.signal);
// Everything is written and the server is gone: an open standard input must not keep the command.
process.exit(exitCode);
