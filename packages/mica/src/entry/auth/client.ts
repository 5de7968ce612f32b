/** `mica-mcp/auth/client`: signing in to MCP servers with OAuth 2.1, for people and for programs. */

export type { Account } from "../../auth/client/account.js";
export { AuthError, type AuthFailure } from "../../auth/client/auth-error.js";
export { type ClientCredentialsOptions, clientCredentials } from "../../auth/client/client-credentials.js";
export type {
  MetadataDocumentClient,
  PreregisteredClient,
  RegistrationMetadata,
} from "../../auth/client/client-options.js";
export type { DpopMode } from "../../auth/client/dpop.js";
export {
  type EnterpriseManagedOptions,
  enterpriseManaged,
  type IdentityProvider,
} from "../../auth/client/enterprise-managed.js";
export { fileStore } from "../../auth/client/file-store.js";
export { type AuthClientLimits, DEFAULT_AUTH_CLIENT_LIMITS } from "../../auth/client/limits.js";
export { type LoopbackOptions, loopback } from "../../auth/client/loopback.js";
export type { MachineOptions } from "../../auth/client/machine.js";
export { memoryStore } from "../../auth/client/memory-store.js";
export { type OAuth, oauth, type SignInOptions } from "../../auth/client/oauth.js";
export type { OAuthOptions } from "../../auth/client/oauth-options.js";
export type { Redirect, RedirectListener } from "../../auth/client/redirect.js";
export type { SignedOut } from "../../auth/client/sign-out.js";
export type {
  AuthRung,
  AuthStep,
  OnAuthStep,
  ReceivedAnswer,
  SentRequest,
} from "../../auth/client/step.js";
export type { AuthStore, StoredRecord } from "../../auth/client/store.js";
export { type WorkloadIdentityOptions, workloadIdentity } from "../../auth/client/workload-identity.js";
export type {
  ClientAuthentication,
  KeyAuthentication,
  PublicClient,
  SecretAuthentication,
} from "../../auth/shared/client-authentication.js";
export type { HttpAuth } from "../../http/client-auth.js";
