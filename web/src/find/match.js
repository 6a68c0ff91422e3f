// Matches texts with a search, by the rules of the server's index (data/index). Names are folded as there, so that accents, case and
// punctuation make no difference. The server also folds other scripts.

/** @typedef {{phrases: string[], words: {spellings: string[], forgiving: boolean}[]}} Query */

/** How well a text matches: the rank of the word that matches worst. Less is better. */
export const ranks = { atStart: 0, startsWord: 1, isRegion: 2, startsRegion: 3, insideWord: 4, insideRegion: 5, misspelt: 6, none: 7 }

const minMisspelt = 5 // letters of a word in which a typing error is allowed

// Letters that Unicode does not decompose, and what people type for them.
const plain = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
// Letters that German, Danish, Norwegian and Swedish write with two letters on a keyboard without them.
const digraphs = { ...plain, ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }

/**
 * Returns the folded spellings of a text: its words, each after a space; a single space if there is no word. U+02B9 to U+02BF
 * are letters in Unicode, but separate words here, because people type them as apostrophes.
 * @param {string} text
 */
export function spellings(text) {
  if (/^[ -~]*$/.test(text)) return [` ${text.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim()}`]
  return [...new Set([plain, digraphs].map((letters) => ` ${text.normalize('NFKC').toLowerCase()
    .replace(/[^ -~]/g, (c) => letters[c] ?? c).normalize('NFKD').replace(/\p{Mn}/gu, '')
    .replace(/[^\p{L}\p{N}\p{M}]+|[\u02b9-\u02bf]+/gu, ' ').trim()}`))]
}

/** Returns the query of a text, or null if it has no word. @param {string} text @returns {Query | null} */
export function parseQuery(text) {
  const phrases = spellings(text)
  if (phrases[0] === ' ') return null
  const [bare, ...others] = phrases.map((phrase) => phrase.slice(1).split(' '))
  const words = bare.map((word, i) => ({
    spellings: [...new Set([word, ...others.map((other) => other[i])])],
    forgiving: [...word].length >= minMisspelt && !/\d/.test(word),
  }))
  return { phrases, words }
}

/**
 * Returns how well the folded texts of an entry and of its region match.
 * @param {Query} query @param {string[]} texts @param {string[]} regions @param {boolean} lenient allows one typing error in each long word
 */
export function rank({ phrases, words }, texts, regions, lenient) {
  let worst = ranks.atStart
  for (const word of words) {
    worst = Math.max(worst, rankOfWord(word, texts, regions, lenient && word.forgiving))
    if (worst === ranks.none) return worst
  }
  return worst === ranks.startsWord && texts.some((text) => phrases.some((phrase) => text.startsWith(phrase))) ? ranks.atStart : worst
}

function rankOfWord(word, texts, regions, lenient) {
  let best = ranks.none
  const found = (at) => { best = Math.min(best, at) }
  for (const spelling of word.spellings) {
    for (const text of texts) {
      if (text.includes(` ${spelling}`)) return ranks.startsWord
      if (text.includes(spelling)) found(ranks.insideWord)
      else if (lenient && best === ranks.none && hasMisspelt(text, spelling)) found(ranks.misspelt)
    }
    for (const text of regions) {
      if (text === ` ${spelling}`) found(ranks.isRegion)
      else if (text.includes(` ${spelling}`)) found(ranks.startsRegion)
      else if (text.includes(spelling)) found(ranks.insideRegion)
      else if (lenient && best === ranks.none && hasMisspelt(text, spelling)) found(ranks.misspelt)
    }
  }
  return best
}

function hasMisspelt(text, word) {
  for (let i = text.indexOf(' '); i >= 0; i = text.indexOf(' ', i + 1)) {
    if (beginsNearly(text, i + 1, word)) return true
  }
  return false
}

/** Reports whether the text begins with the word at an index, but for a letter left out, added, replaced, or swapped with the next one.
 * @param {string} text @param {number} at @param {string} word */
export function beginsNearly(text, at, word) {
  let i = 0
  while (i < word.length && text[at + i] === word[i]) i++
  if (i === word.length) return true
  const here = at + i
  const rest = word.slice(i + 1)
  if (text.startsWith(rest, here)) return true // one letter too many
  if (here >= text.length || text[here] === ' ') return false
  return text.startsWith(word.slice(i), here + 1) || text.startsWith(rest, here + 1) // one too few, or another one
    || (rest !== '' && text[here] === rest[0] && text[here + 1] === word[i] && text.startsWith(rest.slice(1), here + 2))
}

// The federal states of Germany by the code in the ids of their lakes: DEBB_PR_0001, de_bb_beetzsee.
const states = {
  bw: 'Baden-Württemberg', by: 'Bayern|Bavaria', be: 'Berlin', bb: 'Brandenburg', hb: 'Bremen', hh: 'Hamburg', he: 'Hessen|Hesse',
  mv: 'Mecklenburg-Vorpommern|Mecklenburg-Western Pomerania', ni: 'Niedersachsen|Lower Saxony', nw: 'Nordrhein-Westfalen|North Rhine-Westphalia|NRW',
  rp: 'Rheinland-Pfalz|Rhineland-Palatinate', sl: 'Saarland', sn: 'Sachsen|Saxony', st: 'Sachsen-Anhalt|Saxony-Anhalt', sh: 'Schleswig-Holstein',
  th: 'Thüringen|Thuringia',
}
const foldedStates = {}

function regionsOf(id) {
  const code = /^de[_-]*([a-z]{2})[_-]/i.exec(id)?.[1].toLowerCase()
  return states[code] ? foldedStates[code] ??= `${states[code]}|${code}`.split('|').flatMap(spellings) : []
}

/** Finds the entries of a list, with typing errors only if nothing begins a word. `rankOf` returns the rank of an entry.
 * @template T @param {Query} query @param {T[]} list @param {(entry: T, lenient: boolean) => number} rankOf @returns {{entry: T, rank: number}[]} */
export function findIn({ words }, list, rankOf) {
  const all = (lenient) => list.map((entry) => ({ entry, rank: rankOf(entry, lenient) })).filter((found) => found.rank < ranks.none)
  const found = all(false)
  return !words.some((word) => word.forgiving) || found.some((f) => f.rank < ranks.insideWord) ? found : all(true)
}

/**
 * Returns the loaded lakes that match, and the lakes that the server found, the best first: a lake of which only the server knows why it
 * matches is as good as the one before it.
 * @param {Lakes} loaded @param {Query} query @param {Lake[]} remote @returns {Found[]}
 */
export function matchLakes({ lakes, byId }, query, remote) {
  const rankOf = (lake, lenient) => {
    lake.spellings ??= [...new Set([...spellings(lake.name), ...spellings(lake.id)])] // folded once per lake, not once per key press
    return rank(query, lake.spellings, regionsOf(lake.id), lenient)
  }
  const found = new Map(findIn(query, lakes, rankOf).map(({ entry, rank: at }) => [entry.id, { lake: entry, rank: at }]))
  let before = ranks.isRegion
  for (const lake of remote) {
    const known = found.get(lake.id)
    if (known) before = Math.max(before, known.rank)
    else found.set(lake.id, { lake: byId.get(lake.id) ?? lake, rank: Math.min(before, rankOf(lake, true)) })
  }
  return [...found.values()]
}
