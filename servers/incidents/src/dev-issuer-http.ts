/** How the test issuer reads requests and answers them: JSON for programs, pages for people. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Shown } from "./dev-issuer-authorize.js";
import { OAuthRefusal } from "./dev-issuer-clients.js";
import { refusalPage } from "./dev-issuer-page.js";

/** Bytes of a request: forms of some lines. */
const MAX_BODY = 64 * 1024;

/** Answers a request that failed: a person in front of a page is told there. */
export function sendFailure(res: ServerResponse, path: string, failure: unknown): void {
  if (!(failure instanceof OAuthRefusal)) {
    console.error("The test issuer failed:", failure);
    sendJson(res, 500, { error: "server_error" });
  } else if (path === "/authorize") sendHtml(res, 400, refusalPage(failure.message));
  else {
    const status = failure.error === "invalid_client" ? 401 : 400;
    sendJson(res, status, { error: failure.error, error_description: failure.message });
  }
}

export function show(res: ServerResponse, { html, location }: Shown): void {
  if (html !== undefined) sendHtml(res, 200, html);
  else res.writeHead(303, { location, "cache-control": "no-store" }).end();
}

export function sendHtml(res: ServerResponse, status: number, html: string): void {
  res.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-store",
  });
  res.end(html);
}

export function sendJson(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  res.end(JSON.stringify(value));
}

export async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY)
      throw new OAuthRefusal("invalid_request", `The request has more than ${MAX_BODY} bytes`);
  }
  return Buffer.concat(chunks).toString();
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OAuthRefusal("invalid_client_metadata", "The request is not JSON");
  }
}
