/** Programs with an identity of the platform they run on: its JWT is the grant (RFC 7523, section 2.1). */
import type { HttpAuth } from "../../http/client-auth.js";
import { AuthError, messageOf } from "./auth-error.js";
import { askWithAssertion } from "./jwt-bearer.js";
import { type MachineOptions, machineAuth } from "./machine.js";

export interface WorkloadIdentityOptions extends MachineOptions {
  /**
   * Gets a JWT of the platform, addressed to the issuer of the authorization server. Called for every token. Its
   * audience makes it of no use anywhere else: never hand out one for another audience.
   */
  readonly assertion: (issuer: string) => string | Promise<string>;
  /** Where the authorization server knows the workload under a client id as well. */
  readonly clientId?: string | undefined;
  /** The only issuer that assertions are made for. Default: whichever the server names. */
  readonly issuer?: string | undefined;
}

/**
 * Gets tokens for a workload, without a secret of its own.
 *
 * @throws TypeError naming the option that is wrong.
 * @example const auth = workloadIdentity({ assertion: () => readFile("/var/run/secrets/tokens/mcp", "utf8") });
 */
export function workloadIdentity(options: WorkloadIdentityOptions): HttpAuth {
  const { assertion, clientId, issuer = "any" } = options;
  if (typeof assertion !== "function") {
    throw new TypeError(`assertion: expected a function that returns a JWT, got ${typeof assertion}`);
  }
  return machineAuth({
    extension: "io.modelcontextprotocol/auth/wif",
    clientId: clientId ?? "(the subject of the assertion)",
    issuer,
    options,
    async ask(request) {
      const jwt = await obtain(assertion, request.discovered.metadata.issuer);
      const client = {
        clientId: clientId ?? "workload",
        prove: (_as: unknown, _client: unknown, body: URLSearchParams) => {
          if (clientId !== undefined) body.set("client_id", clientId);
        },
      };
      return askWithAssertion(request, client, jwt);
    },
  });
}

/** @throws AuthError where there is none. */
async function obtain(assertion: WorkloadIdentityOptions["assertion"], issuer: string): Promise<string> {
  let jwt: unknown;
  try {
    jwt = await assertion(issuer);
  } catch (error) {
    throw new AuthError("token_refused", `There is no assertion for ${issuer}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  // A file that holds it ends with a newline, more often than not.
  if (typeof jwt === "string" && jwt.trim() !== "") return jwt.trim();
  throw new AuthError(
    "token_refused",
    `There is no assertion for ${issuer}: expected a JWT, got ${typeof jwt}`,
  );
}
