/** An HTTP answer that is no answer of the protocol: the `cause` of the error that the caller sees. */

/** Status and the headers that matter of an answer that carried no JSON-RPC message. */
export class HttpStatusError extends Error {
  override readonly name = "HttpStatusError";
  readonly status: number;
  /** The challenge of a 401 or 403, as it came. */
  readonly wwwAuthenticate: string | undefined;
  /** Where a redirect points; it was not followed. */
  readonly location: string | undefined;
  readonly retryAfter: string | undefined;
  /** The beginning of the body. */
  readonly body: string;

  constructor(message: string, status: number, headers: Readonly<Record<string, unknown>>, body: string) {
    super(message);
    const read = (name: string) => (typeof headers[name] === "string" ? headers[name] : undefined);
    this.status = status;
    this.wwwAuthenticate = read("www-authenticate");
    this.location = read("location");
    this.retryAfter = read("retry-after");
    this.body = body;
  }
}
