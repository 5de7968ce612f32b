/** Runs the command in this process, as its sources stand. */
import { PassThrough, Writable } from "node:stream";
import { run } from "../src/cli/run.js";

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function mica(words: readonly string[], signal = new AbortController().signal): Promise<Said> {
  const said = { stdout: "", stderr: "" };
  const sink = (name: keyof typeof said) =>
    new Writable({
      write(chunk, _encoding, done) {
        said[name] += String(chunk);
        done();
      },
    }) as unknown as NodeJS.WriteStream;
  const streams = {
    stdin: new PassThrough(),
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    env: process.env,
    interrupt: () => {},
  };
  const code = await run(words, streams, signal);
  return { code, ...said };
}
