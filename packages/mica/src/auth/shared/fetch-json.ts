/** One bounded HTTP request for a JSON document: limited in time and size, and never redirected. */

export interface FetchJsonOptions {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds for the whole of it. */
  readonly timeoutMs: number;
  /** Bytes of the answer. */
  readonly maxBytes: number;
}

export interface JsonReply {
  readonly status: number;
  /** The document; undefined where the answer is not JSON. */
  readonly json: unknown;
}

/**
 * Sends it, and resolves whatever the status. A redirect is an error: credentials must not travel on, and keys must
 * come from where they were looked for.
 *
 * @throws Error naming the URL: no connection, too slow, too large, or a redirect. Never holds the body that was sent.
 */
export async function fetchJson(url: URL, options: FetchJsonOptions): Promise<JsonReply> {
  const { method = "GET", headers, body, timeoutMs, maxBytes } = options;
  const what = `${method} ${url.origin}${url.pathname}`;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: "application/json", ...headers },
      redirect: "manual",
      signal: controller.signal,
      ...(body !== undefined && { body }),
    });
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel();
      throw new Error(`${what} was answered by a redirect, which is not followed`);
    }
    const text = await readText(response, maxBytes, what);
    return { status: response.status, json: parse(text) };
  } catch (error) {
    if (controller.signal.aborted) throw new Error(`${what} took longer than ${timeoutMs} ms`);
    if (error instanceof TypeError) {
      const { cause } = error as { cause?: { message?: string; code?: string } };
      throw new Error(`${what} failed: ${cause?.message || cause?.code || error.message}`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The document of an answer that had to be 200 and an object. @throws Error naming the URL and what came instead */
export function expectObject({ status, json }: JsonReply, url: URL): Record<string, unknown> {
  const what = `${url.origin}${url.pathname}`;
  if (status !== 200) throw new Error(`${what} answered ${status}, expected 200`);
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new Error(`${what} answered something that is not a JSON object`);
  }
  return json as Record<string, unknown>;
}

async function readText(response: Response, maxBytes: number, what: string): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      throw new Error(`${what} answered more than ${maxBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
