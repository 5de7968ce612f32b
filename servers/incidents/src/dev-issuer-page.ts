/** The page of the test issuer on which a person says who they want to be. Plain HTML, without scripts. */

export interface SignInPage {
  /** What the form sends back as it is: the parameters of the authorization request. */
  readonly request: URLSearchParams;
  readonly client: { readonly id: string; readonly name: string | undefined };
  readonly redirectUri: string;
  readonly resource: string;
  /** All that can be granted; those that were asked for are ticked. */
  readonly scopes: readonly string[];
  readonly asked: readonly string[];
}

export function signInPage({ request, client, redirectUri, resource, scopes, asked }: SignInPage): string {
  const hidden = [...request]
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join("\n");
  const boxes = scopes
    .map((scope) => {
      const ticked = asked.includes(scope) ? " checked" : "";
      return `<label><input type="checkbox" name="grant" value="${escapeHtml(scope)}"${ticked}> ${escapeHtml(scope)}</label><br>`;
    })
    .join("\n");
  return page(
    "Sign in as",
    `<p class="loud">This is a test issuer: it lets everybody in, as anybody.</p>
<p>The client ${nameOf(client)} asks for access to <code>${escapeHtml(resource)}</code>, and gets the answer at <code>${escapeHtml(redirectUri)}</code>.</p>
<form method="post" action="/authorize">
${hidden}
<p><label>Person<br><input name="person" value="me" required></label></p>
<p><label>Tenant (without one, the person is one)<br><input name="tenant"></label></p>
<p>${boxes}</p>
<p><button name="decision" value="allow">Sign in</button> <button name="decision" value="deny" formnovalidate>Refuse</button></p>
</form>`,
  );
}

/** A name is what the client says of itself: its id stands beside it. */
function nameOf({ id, name }: SignInPage["client"]): string {
  const code = `<code>${escapeHtml(id)}</code>`;
  return name === undefined ? code : `<b>${escapeHtml(name)}</b> (${code})`;
}

/** What went wrong, for the person: nothing is sent to a client that is not known. */
export function refusalPage(message: string): string {
  return page("This cannot go on", `<p>${escapeHtml(message)}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 2rem auto; padding: 0 1rem } .loud { background: #fd6; color: #000; padding: .5rem 1rem; font-weight: bold }</style>
<h1>${escapeHtml(title)}</h1>
${body}
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
