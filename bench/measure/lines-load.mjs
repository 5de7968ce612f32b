/** A closed-loop load over the standard streams of a server: so many requests in flight, counted by their newlines. */
import { earlierRequest, INITIALIZE, INITIALIZED, request } from "../message.mjs";

const NEWLINE = 10;
/** Ids of one width, so that all lines have one length and any number of them is one slice of one buffer. */
const FIRST_ID = 1_000_000;

/** Request lines with ids of their own, as many as may ever be in flight several times over. */
export function linesFor({ earlier }, method, params, count) {
  const make = earlier ? earlierRequest : request;
  const lines = Array.from(
    { length: count },
    (_, at) => `${JSON.stringify(make(FIRST_ID + at, method, params))}\n`,
  );
  const bytes = Buffer.from(lines.join(""));
  return { bytes, length: bytes.length / count, count };
}

/** Waits for one line of a server's stdout. */
export function nextLine(child, withinMs = 30_000) {
  return new Promise((resolve, reject) => {
    let text = "";
    const done = (settle, value) => {
      clearTimeout(timer);
      child.stdout.off("data", onData);
      child.off("exit", onExit);
      settle(value);
    };
    const onData = (data) => {
      text += data;
      if (text.includes("\n")) done(resolve, text.slice(0, text.indexOf("\n")));
    };
    const onExit = (code) => done(reject, new Error(`${child.spawnargs.join(" ")} ended with code ${code}`));
    const timer = setTimeout(() => done(reject, new Error(`no line within ${withinMs} ms`)), withinMs);
    child.stdout.on("data", onData);
    child.on("exit", onExit);
  });
}

/** Sends one message and resolves to the answer; throws where that is an error. */
export async function askLine(child, message) {
  const line = nextLine(child);
  child.stdin.write(`${JSON.stringify(message)}\n`);
  const answer = JSON.parse(await line);
  if (answer.error !== undefined)
    throw new Error(`${message.method} was answered ${JSON.stringify(answer.error)}`);
  return answer.result;
}

/** Opens the conversation with a server of the earlier era; the others need none. */
export async function greet({ child, earlier }) {
  if (!earlier) return;
  await askLine(child, INITIALIZE);
  child.stdin.write(`${JSON.stringify(INITIALIZED)}\n`);
}

/**
 * Keeps `inFlight` requests in flight for `ms` milliseconds, and waits for the last answers.
 *
 * @returns {Promise<{ messages: number, seconds: number }>}
 */
export function loadLines({ child }, { bytes, length, count }, inFlight, ms) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    let at = 0;
    let open = 0;
    let answered = 0;
    const send = (n) => {
      open += n;
      while (n > 0) {
        const run = Math.min(n, count - at);
        child.stdin.write(bytes.subarray(at * length, (at + run) * length));
        at = (at + run) % count;
        n -= run;
      }
    };
    const onExit = (code) => reject(new Error(`${child.spawnargs.join(" ")} ended with code ${code}`));
    const onData = (chunk) => {
      let lines = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, end + 1)) lines++;
      answered += lines;
      open -= lines;
      const now = performance.now();
      if (now - began < ms) send(lines);
      else if (open === 0) {
        child.stdout.off("data", onData);
        child.off("exit", onExit);
        resolve({ messages: answered, seconds: (now - began) / 1000 });
      }
    };
    child.on("exit", onExit);
    child.stdout.on("data", onData);
    send(inFlight);
  });
}
