// Matches lakes with a search text and sorts them. Names are folded as in the server's index, so that accents, case and
// punctuation make no difference. The server also folds other scripts; its matches come with its answer.

const noMatch = 3

/**
 * Returns the loaded lakes whose names contain one of the queries, and the lakes that the server found.
 * @param {Lakes} loaded
 * @param {string[]} queries folded
 * @param {Lake[]} remote
 */
export function matchLakes({ lakes, byId }, queries, remote) {
  /** @type {Map<string, Found>} */
  const found = new Map(remote.map((lake) => [lake.id, { lake: byId.get(lake.id) ?? lake, rank: noMatch }]))
  for (const lake of lakes) {
    lake.spellings ??= spellings(lake.name) // folded once per lake, not once per key press
    const at = rank(lake.spellings, queries)
    if (at < noMatch) found.set(lake.id, { lake, rank: at })
  }
  return [...found.values()]
}

const level = ({ lake }) => (lake.closed ? 9 : lake.display?.level ?? -1)

/** Compares two entries in each order. By value, closed lakes come first, and lakes without a value last.
 * @type {Record<string, (a: Found, b: Found) => number>} */
export const orders = {
  value: (a, b) => level(b) - level(a) || b.lake.chl - a.lake.chl,
  distance: (a, b) => a.distance - b.distance,
  name: () => 0, // equal entries are sorted by name
}

// Letters that Unicode does not decompose, and what people type for them.
const plain = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
// Letters that German, Danish, Norwegian and Swedish write with two letters on a keyboard without them.
const digraphs = { ...plain, ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }

/**
 * Returns the folded spellings of a text: its words, each after a space; a single space if there is no word. U+02B9 to U+02BF
 * are letters in Unicode, but separate words here, because people type them as apostrophes.
 * @param {string} text
 */
export const spellings = (text) => [...new Set([plain, digraphs].map((letters) => ` ${text.normalize('NFKC').toLowerCase()
  .replace(/[^ -~]/g, (c) => letters[c] ?? c).normalize('NFKD').replace(/\p{Mn}/gu, '')
  .replace(/[^\p{L}\p{N}\p{M}]+|[\u02b9-\u02bf]+/gu, ' ').trim()}`))]

/**
 * Ranks where the spellings of a name contain one of the queries: 0 at the start, 1 at the start of a word, 2 inside a word,
 * 3 nowhere.
 * @param {string[]} names @param {string[]} queries
 */
export const rank = (names, queries) => Math.min(...names.flatMap((name) => queries.map((q) => (
  name.startsWith(q) ? 0 : name.includes(q) ? 1 : name.includes(q.slice(1)) ? 2 : 3
))))
