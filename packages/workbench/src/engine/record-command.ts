/** Standing between a host and a command: every byte passes as it is, and every line is written down. */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { CommandTarget } from "./target.js";
import { createLineSplitter } from "./text-lines.js";
import type { TranscriptWriter } from "./transcript.js";

export interface RecordStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Milliseconds that a server gets to end by itself, and then again to obey a signal. */
const PARTING_MS = 2_000;
/** Characters of one line that are kept until its end. */
const MOST_CHARS = 64 * 1024 * 1024;

/**
 * Runs until the command ends. It inherits the whole environment, as it would from the host itself.
 *
 * @returns Its exit code, 128 and more where a signal ended it.
 * @throws Error where it cannot be started.
 */
export function recordCommand(
  { command, args, env, cwd }: CommandTarget,
  { stdin, stdout }: RecordStreams,
  transcript: TranscriptWriter,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const isWindows = process.platform === "win32";
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
      // A group of its own, so that what it starts can be ended with it.
      detached: !isWindows,
      windowsHide: true,
    });
    const kill = (how: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined) process.kill(isWindows ? child.pid : -child.pid, how);
      } catch {
        // It is gone.
      }
    };
    const killNow = () => kill("SIGKILL");
    process.on("exit", killNow);
    const timers: NodeJS.Timeout[] = [];
    const part = () => {
      child.stdin.end();
      timers.push(
        setTimeout(() => kill("SIGTERM"), PARTING_MS),
        setTimeout(killNow, 2 * PARTING_MS),
      );
    };
    signal.addEventListener("abort", part, { once: true });

    const fromClient = lineTap((line) => transcript.add("client", line));
    const fromServer = lineTap((line) => transcript.add("server", line));
    // Each side learns that the other is gone, and neither is an error here.
    child.stdin.on("error", () => {});
    stdout.on("error", () => child.stdout.destroy());
    stdin.on("data", fromClient.feed).pipe(child.stdin);
    child.stdout.on("data", fromServer.feed).pipe(stdout, { end: false });

    const release = () => {
      process.off("exit", killNow);
      signal.removeEventListener("abort", part);
      for (const timer of timers) clearTimeout(timer);
      stdin.unpipe(child.stdin);
      stdin.pause();
    };
    child.on("error", (error) => {
      release();
      reject(error);
    });
    child.on("close", (exitCode, ended) => {
      fromClient.end();
      fromServer.end();
      transcript.end({ exitCode, signal: ended });
      // What it started and left behind goes with it.
      kill("SIGTERM");
      release();
      resolve(exitCode ?? 128 + (ended === null ? 0 : signalNumber(ended)));
    });
  });
}

function signalNumber(name: NodeJS.Signals): number {
  return { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }[name as string] ?? 0;
}

/** Sees the lines of what passes by. */
function lineTap(onLine: (line: string) => void): { feed(chunk: Buffer): void; end(): void } {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const splitter = createLineSplitter();
  const take = (line: string) => {
    if (line.trim() !== "") onLine(line);
  };
  return {
    feed(chunk) {
      for (const line of splitter.feed(decoder.decode(chunk, { stream: true }))) take(line);
      if (splitter.held > MOST_CHARS) splitter.rest();
    },
    end: () => take(splitter.rest()),
  };
}
