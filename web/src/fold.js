// Folding of names, as the server's index does it: what differs in accents, case or punctuation alone is found alike. The
// server knows letters besides; what it finds by them comes with its answer.

// What Unicode does not decompose into a letter and marks, and what people type for it.
const plain = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
// The letters that German, Danish, Norwegian and Swedish spell with two where the keyboard lacks them.
const spelt = { ...plain, ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }

/**
 * The spellings of a text that a search goes by: its words, each behind a space, and a space alone where there is none.
 * U+02B9 to U+02BF are letters to Unicode, and typed as the apostrophes that they look like.
 */
export const spellings = (text) => [...new Set([plain, spelt].map((letters) => ` ${text.normalize('NFKC').toLowerCase()
  .replace(/[^ -~]/g, (c) => letters[c] ?? c).normalize('NFKD').replace(/\p{Mn}/gu, '')
  .replace(/[^\p{L}\p{N}\p{M}]+|[\u02b9-\u02bf]+/gu, ' ').trim()}`))]

/** Where the spellings of a text hold one of those wanted: 0 at the start, 1 at that of a word, 2 inside one, 3 nowhere. */
export const rank = (texts, wanted) => Math.min(...texts.flatMap((text) => wanted.map((w) => (
  text.startsWith(w) ? 0 : text.includes(w) ? 1 : text.includes(w.slice(1)) ? 2 : 3
))))
