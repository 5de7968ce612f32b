/** The response to an authorization request, judged before anything of it is used (authorization, Authorization Response Validation). */
import { AuthError } from "./auth-error.js";
import type { AuthorizationRecord } from "./authorization-request.js";

/**
 * Judges where the browser came back to, without a network.
 *
 * | the server says that it sends `iss` | `iss` came | |
 * | --- | --- | --- |
 * | yes | yes | compared |
 * | yes | no | rejected |
 * | no | yes | compared |
 * | no | no | accepted |
 *
 * "This validation applies equally to error responses": what another issuer says is not repeated.
 *
 * @returns The parameters, with exactly one `code`.
 * @throws AuthError `issuer_mismatch`, `response_rejected`, or `access_denied` with the words of the server.
 */
export function judgeAuthorizationResponse(callback: URL, record: AuthorizationRecord): URLSearchParams {
  const { searchParams: parameters } = callback;
  const only = (name: string): string | undefined => {
    const values = parameters.getAll(name);
    if (values.length <= 1) return values[0];
    throw new AuthError("response_rejected", `The authorization response has ${name} ${values.length} times`);
  };
  const issuer = only("iss");
  if (issuer === undefined && record.sendsIssuer) {
    throw new AuthError(
      "issuer_mismatch",
      `The authorization response has no iss, although ${record.issuer} says that it sends one: it may come from somebody else`,
    );
  }
  // Compared as it came: neither case, port, slash nor percent-encoding is evened out.
  if (issuer !== undefined && issuer !== record.issuer) {
    throw new AuthError(
      "issuer_mismatch",
      `The authorization response comes from another issuer: expected ${JSON.stringify(record.issuer)}, got ${JSON.stringify(issuer)}`,
    );
  }
  if (only("state") !== record.state) {
    throw new AuthError("response_rejected", "The authorization response has not the state of the request");
  }
  const error = only("error");
  if (error !== undefined) {
    const description = only("error_description");
    const said = description === undefined ? error : `${error}: ${description}`;
    throw new AuthError("access_denied", `${record.issuer} did not authorize this (${said})`, {
      oauthError: error,
    });
  }
  const code = only("code");
  if (code === undefined || code === "") {
    throw new AuthError("response_rejected", "The authorization response has neither a code nor an error");
  }
  return parameters;
}
