/** Asking callers over HTTP for access tokens: of somebody's authorization server, or of one for trying things out. */
import { createProtection, type Protection } from "mica-mcp/auth";
import type { Authorization } from "../../kit/command.js";
import type { AuthChoice } from "../../kit/options.js";
import { READ, WRITE } from "./tenant.js";

/**
 * How the incident log is protected: every request needs `incidents:read`, and what writes needs `incidents:write`,
 * which includes it.
 *
 * @param resource what tokens must be made for
 * @example await serveHttp(server, { port: 8931, auth: protectionOf("https://auth.example.com", "http://127.0.0.1:8931/mcp") });
 */
export function protectionOf(issuer: string, resource: string): Protection {
  return createProtection({
    resource,
    authorizationServers: [issuer],
    scopes: [READ],
    scopesSupported: [READ, WRITE],
    scopeHierarchy: { [WRITE]: [READ] },
    metadata: { resource_name: "Incident log" },
  });
}

/** Makes what `--auth` asks for; with `dev`, starts an authorization server along. */
export async function authorize({ issuer, resource }: AuthChoice): Promise<Authorization> {
  if (issuer !== "dev") {
    return { issuer, protect: (url) => protectionOf(issuer, resource ?? url), close: async () => {} };
  }
  let audience = resource;
  const { startDevIssuer, TEST_CLIENT } = await import("./dev-issuer.js");
  const dev = await startDevIssuer({ scopes: [READ, WRITE], resource: () => audience });
  const form = `grant_type=client_credentials&client_id=${TEST_CLIENT}&scope=${WRITE}&tenant=acme`;
  return {
    issuer: dev.issuer,
    tokenCommand: `curl -s ${dev.issuer}/token -d '${form}'`,
    warning: `
*** TEST ISSUER at ${dev.issuer}: it lets everybody on this machine in, as anybody they say they are.
*** For trying things out. Never for a log that matters.
`,
    protect(url) {
      audience ??= url;
      return protectionOf(dev.issuer, audience);
    },
    close: dev.close,
  };
}
