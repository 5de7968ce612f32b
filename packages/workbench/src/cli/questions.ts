/** Everything that asks a person, loaded when the first question comes. */
export { judgeUrl } from "../engine/url-verdict.js";
export { askForm } from "./ask-form.js";
export { askUrl, urlLines } from "./ask-url.js";
export { openDialog } from "./dialog.js";
export { asker } from "./server-words.js";
