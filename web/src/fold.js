// Folding of names, as the server's index does it: what differs in accents, case or punctuation alone is found alike.

// What Unicode does not decompose into a letter and marks, and what people type for it.
const letters = {
  ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ŧ: 't', ŋ: 'n', ı: 'i', ĸ: 'k', ς: 'σ',
}
// The letters that German, Danish, Norwegian and Swedish spell with two where the keyboard lacks them.
const spelt = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }

const replaced = (s, by) => s.replace(/[^\0-\x7f]/g, (c) => by[c] ?? c)

// words gives the words of a text in lower case, each behind a space.
function words(s) {
  const plain = replaced(s.normalize('NFKD').replace(/\p{Mn}/gu, '').toLowerCase(), letters)
  // U+02B9 to U+02BF are letters to Unicode, and typed as the apostrophes that they look like.
  const found = plain.replace(/[\u02b9-\u02bf]/g, ' ').match(/[\p{L}\p{N}\p{M}]+/gu)
  return found ? ` ${found.join(' ')}` : ''
}

/** The spellings of a text that a search goes by: Müggelsee is ' muggelsee' and ' mueggelsee'. None where it has no word. */
export function spellings(s) {
  const composed = s.normalize('NFKC').toLowerCase()
  return [...new Set([words(composed), words(replaced(composed, spelt))])].filter(Boolean)
}

/** How many ranks there are, and so the rank of a text that does not hold what is searched for. */
export const ranks = 3

/** Where in the spellings of a text those of what is searched for stand: at the start, at that of a word, inside a word. */
export function rank(texts, wanted) {
  let best = ranks
  for (const text of texts) {
    for (const w of wanted) {
      if (text.startsWith(w)) return 0
      if (best > 1 && text.includes(w)) best = 1
      else if (best > 2 && text.includes(w.slice(1))) best = 2
    }
  }
  return best
}
