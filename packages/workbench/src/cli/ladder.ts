/** Draws the steps of signing in: what was sent, what was answered, what was decided. */
import type { AuthStep, ReceivedAnswer, SentRequest } from "mica-mcp/auth/client";
import type { Paint } from "./paint.js";
import { cut, visibleLine } from "./terminal.js";

export interface Drawing {
  readonly paint: Paint;
  /** Undefined: lines may be of any length. */
  readonly width: number | undefined;
  /** Whether members are drawn that say nothing here. */
  readonly everything: boolean;
}

/** Members of metadata and answers that matter on the way; of the rest there are dozens. */
const TELLING =
  /^(resource|authorization_servers|scopes_supported|dpop_.*|issuer|(authorization|token|registration|revocation|pushed_authorization_request)_endpoint|code_challenge_methods_supported|authorization_response_iss_parameter_supported|client_id_metadata_document_supported|token_endpoint_auth_methods_supported|grant_types_supported|error|error_description|client_id|client_secret|client_name|redirect_uris?|application_type|token_endpoint_auth_method|grant_types?|access_token|token_type|expires_in|scope|refresh_token|id_token|response_type|state|code_challenge|code_challenge_method|code|code_verifier|prompt|iss|assertion|subject_token|audience|token|token_type_hint|request_uri)$/;

/** The title of a rung, drawn where it begins. */
export const RUNGS: Readonly<Record<AuthStep["rung"], string>> = {
  challenge: "Ask without a token",
  resource_metadata: "Find the metadata of the resource",
  server_metadata: "Find the metadata of the authorization server",
  registration: "Be known to the authorization server",
  authorization: "Send the person to the authorization server",
  identity: "Show who the person is to the identity provider",
  token: "Get tokens",
  refresh: "Get new tokens for the refresh token",
  revocation: "Give the tokens back",
};

/** `>` what was sent, `<` what was answered, `=` what was decided, `!` what is wrong. */
export function stepLines({ about, sent, answered, problem }: AuthStep, drawing: Drawing): string[] {
  const { paint, width } = drawing;
  const lines = [
    ...(sent === undefined
      ? [`  ${paint.cyan("=")} ${visibleLine(about)}`]
      : sentLines(sent, about, drawing)),
    ...(answered === undefined ? [] : answerLines(answered, drawing)),
    ...(problem === undefined ? [] : [`  ${paint.red("!")} ${visibleLine(problem)}`]),
  ];
  return width === undefined ? lines : lines.map((line) => fit(line, width));
}

function sentLines(
  { method, url, headers, members }: SentRequest,
  about: string,
  drawing: Drawing,
): string[] {
  const { bold, dim } = drawing.paint;
  return [
    `  ${bold(">")} ${bold(visibleLine(`${method} ${url}`))} ${dim(`(${visibleLine(about)})`)}`,
    ...memberLines(pick(headers, /^(authorization|dpop)$/), drawing),
    ...memberLines(members ?? {}, drawing),
  ];
}

function answerLines({ status, headers, json, text }: ReceivedAnswer, drawing: Drawing): string[] {
  const { bold, dim, yellow } = drawing.paint;
  const shown = status >= 400 ? yellow(String(status)) : String(status);
  const body =
    typeof json === "object" && json !== null && !Array.isArray(json)
      ? memberLines(json as Record<string, unknown>, drawing)
      : text === undefined
        ? []
        : [`      ${dim(visibleLine(text))}`];
  return [
    `  ${bold("<")} ${shown}`,
    ...memberLines(pick(headers, /^(www-authenticate|dpop-nonce|location)$/), drawing),
    ...body,
  ];
}

function pick(members: Readonly<Record<string, unknown>>, names: RegExp): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.test(name)));
}

function memberLines(members: Readonly<Record<string, unknown>>, { paint, everything }: Drawing): string[] {
  const entries = Object.entries(members);
  const isTold = ([name]: [string, unknown]) =>
    everything ||
    TELLING.test(name) ||
    /^(authorization|dpop|www-authenticate|dpop-nonce|location)$/.test(name);
  const told = entries.filter(isTold);
  const longest = Math.min(Math.max(0, ...told.map(([name]) => name.length)), 48);
  const lines = told.map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `      ${paint.dim(visibleLine(name).padEnd(longest))}  ${visibleLine(text)}`;
  });
  const left = entries.length - told.length;
  return left === 0 ? lines : [...lines, `      ${paint.dim(`and ${left} more; --verbose shows them`)}`];
}

/** Cut at the edge, colours and all. */
function fit(line: string, width: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
  const plain = line.replace(/\x1b\[[0-9;]*m/g, "");
  return plain.length <= width ? line : cut(plain, width);
}
