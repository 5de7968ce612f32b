/** Standing between a host that speaks over lines and a server at a URL: lines become POSTs, answers become lines. */
import { isObject, readJson } from "./json.js";
import type { RecordStreams } from "./record-command.js";
import type { UrlTarget } from "./target.js";
import { textLines } from "./text-lines.js";
import type { TranscriptWriter } from "./transcript.js";
import { openWire } from "./wire.js";

/** JSON-RPC's own code for what went wrong on this side. */
const INTERNAL_ERROR = -32603;
/** Milliseconds for what is under way once the host has nothing more to say. */
const PARTING_MS = 5_000;

/** Runs until the host closes stdin. @returns 0. */
export async function recordUrl(
  target: UrlTarget,
  { stdin, stdout }: RecordStreams,
  transcript: TranscriptWriter,
  signal: AbortSignal,
): Promise<number> {
  /** Requests that are under way, by their text; what there is to say where they get no answer. */
  const unanswered = new Map<string, unknown>();
  let trouble = "";
  const write = (line: string) => {
    stdout.write(`${line}\n`);
  };
  const wire = await openWire(target, {
    signal,
    onEvent(event) {
      if (event.kind === "failed") trouble = event.message;
      else if (event.kind === "head") trouble = event.head[0] ?? "";
      if (event.kind !== "received") return;
      const text = event.data ?? event.text;
      const message = readJson(text)?.value;
      // A stream's comments are no messages.
      if (event.data === undefined && (event.isAside || event.text.startsWith(":"))) return;
      transcript.add("server", text, event.status);
      if (!isObject(message) || message["jsonrpc"] !== "2.0") return;
      if (!("method" in message)) unanswered.delete(JSON.stringify(message["id"]));
      write(JSON.stringify(message));
    },
  });

  async function forward(line: string): Promise<void> {
    const message = readJson(line)?.value;
    const isRequest = isObject(message) && "method" in message && "id" in message;
    if (isObject(message) && message["method"] === "notifications/cancelled") {
      const params = message["params"];
      const id = isObject(params) ? params["requestId"] : undefined;
      unanswered.delete(JSON.stringify(id));
      // Over HTTP, closing the connection is what cancels.
      if (wire.cancel(id)) return;
    }
    const key = isRequest ? JSON.stringify(message["id"]) : undefined;
    if (key !== undefined) unanswered.set(key, message);
    trouble = "";
    await wire.send(line);
    if (key === undefined || !unanswered.delete(key) || signal.aborted) return;
    const said = trouble || "no answer came";
    const error = { code: INTERNAL_ERROR, message: `${new URL(target.url).host}: ${said}` };
    const answer = JSON.stringify({ jsonrpc: "2.0", id: (message as { id: unknown }).id, error });
    transcript.add("mica", answer);
    write(answer);
  }

  const open = new Set<Promise<void>>();
  let greeting: Promise<void> | undefined;
  try {
    for await (const line of textLines(stdin, signal)) {
      if (line.trim() === "") continue;
      transcript.add("client", line);
      // What follows a handshake needs its session.
      await greeting;
      const sent = forward(line);
      if (/"initialize"|"notifications\/initialized"/.test(line)) greeting = sent;
      open.add(sent);
      void sent.then(() => open.delete(sent));
    }
    await Promise.race([
      Promise.all(open),
      new Promise((resolve) => setTimeout(resolve, PARTING_MS).unref()),
    ]);
  } finally {
    await wire.close();
    transcript.end({});
  }
  return 0;
}
