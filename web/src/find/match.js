// Matches texts with a search, by the rules of the server's index (data/index). Names are folded as there, so that accents, case and
// punctuation make no difference. The server also folds other scripts.

/**
 * A text to search for: words that must all match, in any order. The longest one is the driver, by which entries are looked for.
 * @typedef {{spellings: string[], forgiving: boolean}} Word
 * @typedef {{phrases: string[], words: Word[], driver: number}} Query
 */

/**
 * Entries to search, each with its folded texts, which begin with \n, and the index of its region. The texts of the regions are alike.
 * @typedef {{texts: string[], all: string, starts: number[], regionOf: number[], regions: string[]}} Index
 */

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

/** Returns texts folded, as in an index: each spelling once, after \n. @param {string[]} texts */
export const fold = (texts) => `\n${[...new Set(texts.flatMap(spellings))].filter((text) => text !== ' ').join('\n')}`

/** @param {string[]} texts @param {number[]} regionOf @param {string[]} regions @returns {Index} */
export function createIndex(texts, regionOf, regions) {
  const starts = []
  let at = 0
  for (const text of texts) {
    starts.push(at)
    at += text.length + 1
  }
  return { texts, all: texts.join('\0'), starts: [...starts, Infinity], regionOf, regions }
}

/** Returns the query of a text, or null if it has no word. @param {string} text @returns {Query | null} */
export function parseQuery(text) {
  const phrases = spellings(text)
  if (phrases[0] === ' ') return null
  const [bare, ...others] = phrases.map((phrase) => phrase.slice(1).split(' '))
  const words = bare.map((word, i) => ({
    spellings: [...new Set([word, ...others.map((other) => other[i])])].map((spelling) => ` ${spelling}`),
    forgiving: [...word].length >= minMisspelt && !/\d/.test(word),
  }))
  const driver = bare.reduce((longest, word, i) => (word.length > bare[longest].length ? i : longest), 0)
  return { phrases: phrases.map((phrase) => `\n${phrase}`), words, driver }
}

/**
 * Returns the entries that match, with their ranks. If none begins a word, it adds those where each long word has one typing error at most.
 * @param {Query} query @param {Index} index @param {boolean} [startsOnly] leaves out parts inside words
 */
export function findIn(query, index, startsOnly = false) {
  const found = search(query, index, startsOnly, false)
  return found.some(({ rank }) => rank < ranks.insideWord) || !query.words.some((word) => word.forgiving) ? found : search(query, index, startsOnly, true)
}

function search(query, index, startsOnly, lenient) {
  const { words, driver } = query
  const ofRegions = index.regions.map((region) => words.map((word) => rankInRegion(word, region, lenient))) // for each region those of the words
  const found = []
  const add = (entry) => {
    const rank = rankOf(query, index.texts[entry], ofRegions[index.regionOf[entry]], lenient)
    if (rank < ranks.none && !(startsOnly && rank > ranks.startsRegion && rank < ranks.misspelt)) found.push({ entry, rank })
  }
  for (const entry of candidates(words[driver], index, ofRegions.map((of) => of[driver]), startsOnly, lenient)) add(entry)
  return found
}

// candidates returns the entries in which the word may be found, or whose regions have it.
function candidates(word, { all, starts, regionOf }, ofRegions, startsOnly, lenient) {
  const entries = new Set()
  for (const text of word.spellings.flatMap((spelling) => (lenient && word.forgiving ? nearby(spelling) : startsOnly ? spelling : spelling.slice(1)))) {
    let entry = 0
    for (let at = all.indexOf(text); at >= 0; at = all.indexOf(text, starts[entry])) {
      while (starts[entry + 1] <= at) entry++
      entries.add(entry++)
      if (entry >= regionOf.length) break
    }
  }
  if (ofRegions.some((rank) => rank < ranks.none)) regionOf.forEach((region, entry) => { if (ofRegions[region] < ranks.none) entries.add(entry) })
  return entries
}

// nearby returns texts of which one is in each text where a word begins like the word but for one typing error: the error is in one half, so that
// the other half is right, or swaps the letters around the middle.
function nearby(word) {
  const middle = word.length >> 1
  return [word.slice(0, middle), word.slice(middle), word.slice(0, middle - 1) + word[middle] + word[middle - 1] + word.slice(middle + 1)]
}

/** Returns how well a folded text matches, in a region that matches each word with a rank.
 * @param {Query} query @param {string} text @param {number[]} ofRegion @param {boolean} lenient allows one typing error in each long word */
export function rankOf({ phrases, words }, text, ofRegion, lenient) {
  let worst = ranks.atStart
  for (const [i, word] of words.entries()) {
    worst = Math.max(worst, Math.min(rankInText(word, text, lenient), ofRegion[i]))
    if (worst === ranks.none) return worst
  }
  return worst === ranks.startsWord && phrases.some((phrase) => text.includes(phrase)) ? ranks.atStart : worst
}

function rankInText({ spellings: all, forgiving }, text, lenient) {
  if (all.some((spelling) => text.includes(spelling))) return ranks.startsWord
  if (all.some((spelling) => text.includes(spelling.slice(1)))) return ranks.insideWord
  return lenient && forgiving && all.some((spelling) => hasMisspelt(text, spelling.slice(1))) ? ranks.misspelt : ranks.none
}

/** @param {Word} word @param {string} region folded @param {boolean} lenient */
export function rankInRegion(word, region, lenient) {
  if (word.spellings.some((spelling) => `${region}\n`.includes(`\n${spelling}\n`))) return ranks.isRegion
  const rank = rankInText(word, region, lenient)
  return rank === ranks.startsWord ? ranks.startsRegion : rank === ranks.insideWord ? ranks.insideRegion : rank
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
  if (here >= text.length || text[here] <= ' ') return false
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
const codes = Object.keys(states)
const stateTexts = ['\n', ...codes.map((code) => fold([...states[code].split('|'), code]))] // the first one is of lakes without a state

/** @param {string} id */
const stateOf = (id) => 1 + codes.indexOf(/^de[_-]*([a-z]{2})[_-]/i.exec(id)?.[1].toLowerCase())

const maxFolded = 50_000
const folded = new Map() // texts by id and name: a lake is folded once, not once per key press or week

/** @param {Lake} lake */
function textOf({ id, name }) {
  const key = `${id} ${name}`
  if (folded.size > maxFolded) folded.clear()
  if (!folded.has(key)) folded.set(key, fold([name, id]))
  return folded.get(key)
}

const indexes = new WeakMap() // by the lakes of a week

/** @param {Lake[]} lakes @returns {Index} */
function indexOf(lakes) {
  if (!indexes.has(lakes)) indexes.set(lakes, createIndex(lakes.map(textOf), lakes.map(({ id }) => stateOf(id)), stateTexts))
  return indexes.get(lakes)
}

/**
 * Returns the loaded lakes that match, and the lakes that the server found, the best first: a lake of which only the server knows why it
 * matches is as good as the one before it.
 * @param {Lakes} loaded @param {Query} query @param {Lake[]} remote @returns {Found[]}
 */
export function matchLakes({ lakes, byId }, query, remote) {
  const found = new Map(findIn(query, indexOf(lakes)).map(({ entry, rank }) => [lakes[entry].id, { lake: lakes[entry], rank }]))
  let before = ranks.isRegion
  for (const lake of remote) {
    const known = found.get(lake.id)
    if (known) before = Math.max(before, known.rank)
    else found.set(lake.id, { lake: byId.get(lake.id) ?? lake, rank: Math.min(before, rankOfLake(query, lake)) })
  }
  return [...found.values()]
}

function rankOfLake(query, lake) {
  const region = stateTexts[stateOf(lake.id)]
  return rankOf(query, textOf(lake), query.words.map((word) => rankInRegion(word, region, true)), true)
}
