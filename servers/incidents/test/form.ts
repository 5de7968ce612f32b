/** The form of a page, as a browser reads it. */

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** What a browser would send of the page: hidden fields and ticked boxes. */
export function fieldsOf(html: string): URLSearchParams {
  const form = new URLSearchParams();
  for (const [tag] of html.matchAll(/<input [^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1] ?? "";
    const value = /value="([^"]*)"/.exec(tag)?.[1] ?? "";
    if (tag.includes('type="checkbox"') && !tag.endsWith(" checked>")) continue;
    form.append(
      name,
      value.replace(/&[^;]*;/g, (entity) => ENTITIES[entity]!),
    );
  }
  return form;
}
