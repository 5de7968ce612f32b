/** One exchange as it went over the wire, and what can be read from it. */
import { isObject } from "../../json.js";
import type { Era, Members } from "../audited.js";

export interface RawExchange {
  /** The body, or the line without its newline. */
  readonly sent: string;
  /** What came: the lines of stdout, or the JSON texts of the HTTP answer (its body, or the data of its events). */
  readonly texts: readonly string[];
  /** Those of `texts` that are JSON objects. */
  readonly messages: readonly Members[];
  /** The response to what was sent; with an error that has no id where nothing else answers it. */
  readonly response: Members | undefined;
  /** Why nothing more was waited for, where it is not that the response had come. */
  readonly ended: "timeout" | "closed" | undefined;
  /** HTTP only. */
  readonly http: HttpAnswer | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; several of one name are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawOptions {
  /** Default: that of `speaking`. */
  readonly era?: Era | undefined;
  /** Milliseconds to wait. */
  readonly timeoutMs?: number | undefined;
  /** HTTP: default POST. */
  readonly method?: string | undefined;
  /** HTTP: another URL of the same server. */
  readonly url?: string | undefined;
  /** HTTP: a stream of events is not waited for, its status and headers are enough. */
  readonly headOnly?: boolean | undefined;
  /** HTTP: whether these data of events are all that is wanted. Default: the response is among them. */
  readonly isEnough?: ((texts: readonly string[]) => boolean) | undefined;
}

/** The member `result` of the response, where it is an object. */
export function resultOf({ response }: RawExchange): Members | undefined {
  return isObject(response?.["result"]) ? response["result"] : undefined;
}

export interface RpcError {
  readonly code: unknown;
  readonly message: unknown;
  readonly data: unknown;
}

export function errorOf({ response }: RawExchange): RpcError | undefined {
  const error = response?.["error"];
  return isObject(error)
    ? { code: error["code"], message: error["message"], data: error["data"] }
    : undefined;
}

/** JSON objects among texts. */
export function messagesIn(texts: readonly string[]): Members[] {
  return texts.flatMap((text) => {
    try {
      const value: unknown = JSON.parse(text);
      // A batch is several messages in one text.
      return (Array.isArray(value) ? value : [value]).filter(isObject);
    } catch {
      return [];
    }
  });
}

/** Whether a message is a response: it has an answer, and asks for none. */
export function isResponse(message: Members): boolean {
  return !("method" in message) && ("result" in message || "error" in message);
}

/** The response with this id, compared by type and value; else an error that could not say whose it is. */
export function responseIn(messages: readonly Members[], id: unknown): Members | undefined {
  const responses = messages.filter(isResponse);
  const own = id === undefined ? undefined : responses.find((message) => message["id"] === id);
  return own ?? responses.find((message) => (message["id"] ?? null) === null);
}

/** What came of it, in one line: the status, and the texts. */
export function seen({ http, texts, ended }: RawExchange, most = 400): string {
  const body = texts.length > 0 ? texts.join("\n") : (http?.body ?? "");
  const what = http === undefined ? body : `HTTP ${http.status}${body === "" ? ", no body" : `: ${body}`}`;
  const shown = what.length > most ? `${what.slice(0, most)}... (${what.length} characters)` : what;
  if (shown !== "") return shown;
  if (ended === "closed") return "nothing; the process ended";
  return ended === "timeout" ? "no answer" : "nothing, and an answer to the next request";
}

/** What was sent, and what came of it. */
export function sentAndSeen(exchange: RawExchange, most = 300): string {
  const { sent } = exchange;
  const shown = sent.length > most ? `${sent.slice(0, most)}... (${sent.length} characters)` : sent;
  return `sent ${shown}\ngot  ${seen(exchange, most)}`;
}

/** Whether it was refused, by an error or by a status. */
export function isRefused(exchange: RawExchange): boolean {
  return errorOf(exchange) !== undefined || (exchange.http !== undefined && exchange.http.status >= 400);
}
