/** The clients of the test issuer: registered now (RFC 7591), or described by a document at their own URL. */
import { randomUUID } from "node:crypto";
import { isLoopback } from "../../kit/usage.js";

/** What a request is refused with (RFC 6749, sections 4.1.2.1 and 5.2). */
export class OAuthRefusal extends Error {
  override readonly name = "OAuthRefusal";
  readonly error: string;

  constructor(error: string, description: string) {
    super(description);
    this.error = error;
  }
}

export interface Clients {
  /** Registers a public client. @returns the answer. @throws OAuthRefusal */
  register(asked: unknown): Record<string, unknown>;
  /** Makes sure that the client may be sent there. @returns what it calls itself. @throws OAuthRefusal */
  checkRedirect(clientId: string, redirectUri: string): Promise<string | undefined>;
}

interface Described {
  /** What the client says, whoever it is. */
  readonly name: string | undefined;
  readonly uris: readonly string[];
}

/** More would be a mistake: the oldest are forgotten. */
const MAX_CLIENTS = 1_000;
/** Bytes of a client's document: they hold some lines. */
const MAX_DOCUMENT = 64 * 1024;
const DOCUMENT_TIMEOUT_MS = 5_000;

/** @param fetchDocument gets the document of a client. Default: over HTTPS, without redirects */
export function createClients(fetchDocument: (url: string) => Promise<unknown> = fetchJson): Clients {
  const registered = new Map<string, Described>();

  async function find(clientId: string): Promise<Described> {
    const known = registered.get(clientId);
    if (known !== undefined) return known;
    const url = URL.canParse(clientId) ? new URL(clientId) : undefined;
    if (url?.protocol !== "https:" || url.pathname === "/") {
      throw new OAuthRefusal(
        "invalid_client",
        `The client ${JSON.stringify(clientId)} is not registered here`,
      );
    }
    const document = await fetchDocument(clientId).catch((error: unknown) => {
      throw new OAuthRefusal("invalid_client", `The document of client ${clientId} cannot be read: ${error}`);
    });
    const { client_id: id, client_name: name, redirect_uris: uris } = asObject(document);
    if (id !== clientId || typeof name !== "string" || !isListOfTexts(uris)) {
      throw new OAuthRefusal(
        "invalid_client",
        `The document of client ${clientId} must hold that client_id, a client_name and redirect_uris`,
      );
    }
    return { name, uris };
  }

  return {
    register(asked) {
      const { redirect_uris: uris, client_name: name } = asObject(asked);
      if (!isListOfTexts(uris)) {
        throw new OAuthRefusal("invalid_redirect_uri", "redirect_uris must list at least one URI");
      }
      for (const uri of uris) checkLoopback(uri);
      const clientId = randomUUID();
      registered.set(clientId, { name: typeof name === "string" ? name : undefined, uris });
      if (registered.size > MAX_CLIENTS) registered.delete([...registered.keys()][0]!);
      return {
        client_id: clientId,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        ...(typeof name === "string" && { client_name: name }),
        redirect_uris: uris,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      };
    },
    async checkRedirect(clientId, redirectUri) {
      const { name, uris } = await find(clientId);
      if (!uris.some((uri) => withoutPort(uri) === withoutPort(redirectUri))) {
        throw new OAuthRefusal(
          "invalid_request",
          `redirect_uri ${JSON.stringify(redirectUri)} is none of the client's: expected ${uris.join(" or ")}`,
        );
      }
      checkLoopback(redirectUri);
      return name;
    },
  };
}

/** Everybody is let in here, so a code must not leave this machine: no page elsewhere can get one. */
function checkLoopback(uri: string): void {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url?.protocol === "http:" && isLoopback(url.hostname) && !uri.includes("#")) return;
  throw new OAuthRefusal(
    "invalid_redirect_uri",
    `This test issuer sends codes to this machine only: expected an http URI such as http://127.0.0.1/callback, got ${JSON.stringify(uri)}`,
  );
}

/** "The authorization server MUST allow any port" of a loopback redirect URI (RFC 8252, section 7.3). */
function withoutPort(uri: string): string {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url === undefined || !isLoopback(url.hostname)) return uri;
  url.port = "";
  return url.href;
}

async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(DOCUMENT_TIMEOUT_MS),
  });
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_DOCUMENT) throw new Error(`more than ${MAX_DOCUMENT} bytes`);
  }
  return JSON.parse(text);
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
}
