/**
 * Reduces an English word to what its forms share, so that `timeouts` finds `timeout` and `failed` finds `failing`.
 * Light on purpose: it takes inflections off and leaves derivations (`failure`) and other alphabets alone.
 */

/** @param word in lower case */
export function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return withoutFinalE(withoutVerbEnding(withoutPlural(word)));
}

function withoutPlural(word: string): string {
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (/[^ae]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  const stem = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(word)?.[1];
  if (stem === undefined || stem.length < 3) return word;
  if (stem.endsWith("i")) return `${stem.slice(0, -1)}y`;
  return /([bdfgkmnprtv])\1$/.test(stem) ? stem.slice(0, -1) : stem;
}

/** `cached` and `cache` meet without it. */
function withoutFinalE(word: string): string {
  return word.length > 3 && word.endsWith("e") ? word.slice(0, -1) : word;
}
