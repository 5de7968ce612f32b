/** The life of one process from its start over some requests to the end of its input, watched byte by byte. */
import { pause } from "../../pause.js";
import type { Audited, Request } from "../audited.js";
import type { Exit } from "../wire/child.js";
import type { Descendant } from "../wire/descendants.js";
import { INITIALIZED, initializeRequest } from "../wire/envelope.js";
import type { Line } from "../wire/lines.js";

export interface Life {
  /** All of stdout, what has no newline included. */
  readonly lines: readonly Line[];
  /** The ids of the requests that were sent. */
  readonly asked: readonly (string | number)[];
  /** The length of stdout when its input was closed. */
  readonly closedAt: number;
  readonly stderr: string;
  /** Undefined where it did not end within {@link EXIT_MS}. */
  readonly exit: Exit | undefined;
  /** From the end of its input to its end. */
  readonly exitMs: number;
  /** What it left behind; undefined where this system does not tell. */
  readonly left: readonly Descendant[] | undefined;
}

/** Milliseconds in which a server must end, from the end of its input: what the clients of the SDKs wait for at least. */
export const EXIT_MS = 2_000;
/** Milliseconds after its end in which what it started may end too. */
const LEAVE_MS = 500;

export function lifeOf(audited: Audited): Promise<Life> {
  return audited.once("life", () => watch(audited));
}

async function watch(audited: Audited): Promise<Life> {
  const child = audited.spawn();
  const asked: (string | number)[] = [];
  const ask = async (request: Request) => {
    asked.push(request.id);
    await child.ask(request, audited.answerMs);
  };
  if (audited.era === "modern") await ask(audited.message("server/discover"));
  else {
    await ask(initializeRequest("opening"));
    child.write(INITIALIZED);
  }
  for (const method of listsOf(audited)) await ask(audited.message(method));
  // An error belongs to what is looked at as well.
  await ask(audited.message("mica/no-such-method"));
  const closedAt = child.written;
  const closed = performance.now();
  child.endInput();
  const exit = await child.exited(EXIT_MS);
  const exitMs = performance.now() - closed;
  await pause(LEAVE_MS);
  const left = await child.descendants();
  const lines = child.lines(true);
  const stderr = child.stderr();
  await child.kill();
  return { lines, asked, closedAt, stderr, exit, exitMs, left };
}

function listsOf({ catalogue }: Audited): string[] {
  return Object.values(catalogue).flatMap((listing) => listing?.method ?? []);
}
