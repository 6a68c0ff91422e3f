// Folding of names, as the server's index does it: what differs in accents, case or punctuation alone is found alike.

// What Unicode does not decompose into a letter and marks, and what people type for it.
const letters = {
  ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ŧ: 't', ŋ: 'n', ı: 'i', ĸ: 'k', ς: 'σ',
}
// The letters that German, Danish, Norwegian and Swedish spell with two where the keyboard lacks them.
const spelt = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }

// U+02B9 to U+02BF are letters to Unicode, and typed as the apostrophes that they look like.
const folded = (s) => s.normalize('NFKD').toLowerCase().replace(/\p{Mn}/gu, '').replace(/[^ -~]/g, (c) => letters[c] ?? c)
  .replace(/[^\p{L}\p{N}\p{M}]+|[\u02b9-\u02bf]+/gu, ' ').trim()

/** The spellings of a text that a search goes by, each behind a space. None where it has no word. */
export function spellings(s) {
  const two = s.normalize('NFKC').toLowerCase().replace(/[äöüøå]/g, (c) => spelt[c])
  return [...new Set([folded(s), folded(two)])].filter(Boolean).map((text) => ` ${text}`)
}

/** Where the spellings of a text hold one of those wanted: 0 at the start, 1 at that of a word, 2 inside one, 3 nowhere. */
export const rank = (texts, wanted) => Math.min(3, ...texts.flatMap((text) => wanted.map((w) => (
  text.startsWith(w) ? 0 : text.includes(w) ? 1 : text.includes(w.slice(1)) ? 2 : 3
))))
