/** The authorization endpoint of the test issuer: a request becomes a page, and what a person says there a code. */
import { type Clients, OAuthRefusal } from "./dev-issuer-clients.js";
import { type Grants, needed, scopesIn } from "./dev-issuer-grants.js";
import { signInPage } from "./dev-issuer-page.js";

export interface AuthorizeOptions {
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly clients: Clients;
  readonly grants: Grants;
  /** What a token is for, where the request names nothing. */
  readonly audience: (form: URLSearchParams) => readonly string[];
}

/** A page to show, or where to send the browser. */
export type Shown =
  | { readonly html: string; readonly location?: undefined }
  | { readonly location: string; readonly html?: undefined };

/** Parameters of the form that are the person's, and none of the request's. */
const OF_PERSON = ["person", "tenant", "grant", "decision"];

export interface Authorize {
  /** @throws OAuthRefusal for the person to see, where the client cannot be trusted with an answer. */
  show(request: URLSearchParams): Promise<Shown>;
  /** @param form what the page sent. @throws OAuthRefusal as above */
  decide(form: URLSearchParams): Promise<Shown>;
}

export function createAuthorize({ issuer, scopes, clients, grants, audience }: AuthorizeOptions): Authorize {
  /** Every answer says whose it is (RFC 9207). */
  function back(request: URLSearchParams, members: Record<string, string>): Shown {
    const url = new URL(needed(request, "redirect_uri"));
    const state = request.get("state");
    for (const [name, value] of Object.entries({ ...members, iss: issuer }))
      url.searchParams.set(name, value);
    if (state !== null) url.searchParams.set("state", state);
    return { location: url.href };
  }

  /** First what decides whether the client gets an answer at all, then the rest, which it is told. */
  async function check(
    request: URLSearchParams,
    go: (client: { id: string; name: string | undefined }, redirectUri: string, challenge: string) => Shown,
  ): Promise<Shown> {
    const clientId = needed(request, "client_id");
    const redirectUri = needed(request, "redirect_uri");
    const name = await clients.checkRedirect(clientId, redirectUri);
    try {
      if (needed(request, "response_type") !== "code") {
        throw new OAuthRefusal("unsupported_response_type", "response_type must be code");
      }
      if (request.get("code_challenge_method") !== "S256") {
        throw new OAuthRefusal("invalid_request", "PKCE is required: code_challenge_method must be S256");
      }
      const challenge = needed(request, "code_challenge");
      if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
        throw new OAuthRefusal("invalid_request", "code_challenge must be a SHA-256 digest in base64url");
      }
      return go({ id: clientId, name }, redirectUri, challenge);
    } catch (error) {
      if (!(error instanceof OAuthRefusal)) throw error;
      return back(request, { error: error.error, error_description: error.message });
    }
  }

  return {
    show: (request) =>
      check(request, (client, redirectUri) => {
        const asked = scopesIn(request.get("scope"));
        const resource = audience(request).join(" ");
        const ticked = asked.length > 0 ? asked : scopes;
        return { html: signInPage({ request, client, redirectUri, resource, scopes, asked: ticked }) };
      }),
    decide(form) {
      const request = new URLSearchParams([...form].filter(([name]) => !OF_PERSON.includes(name)));
      return check(request, ({ id: clientId }, redirectUri, challenge) => {
        if (form.get("decision") !== "allow") {
          throw new OAuthRefusal("access_denied", "The person refused");
        }
        const grant = {
          clientId,
          subject: needed(form, "person"),
          tenant: form.get("tenant") ?? "",
          scopes: scopes.filter((scope) => form.getAll("grant").includes(scope)),
          audience: audience(request),
        };
        return back(request, { code: grants.code(grant, { redirectUri, challenge }) });
      });
    },
  };
}
