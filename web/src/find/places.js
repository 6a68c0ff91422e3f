// The gazetteer: places and postcodes by name, without a server's search. Its format is described in data/gazetteer.
import { files } from '../dom.js'
import { language } from '../words.js'
import { createIndex, findIn, fold, rankOf, ranks, spellings } from './match.js'

const maxShown = 4
const wholeName = 2 // a place of exactly that name comes before one with less than four times as many inhabitants

/** @typedef {{name: string, short: string, lat: number, lon: number}} Place short is the name without the region */
/** @typedef {{names: string[], region: string, lat: number, lon: number, size: number, text: string}} Entry size is the logarithm of the inhabitants to base 2 */
/** @typedef {{credit: string, all: Entry[], index: import('./match.js').Index, codes: {code: string, text: string, entry: Entry, lat: number, lon: number}[]}} Gazetteer */

/** Loads the gazetteer of the server, or else that of the page. @param {string | null | undefined} address @returns {Promise<Gazetteer>} */
export async function loadPlaces(address) {
  const answer = await fetch(address ?? files.places)
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`)
  return decode(await answer.json())
}

/** @param {Record<string, any>} file @returns {Gazetteer} */
export function decode(file) {
  const [region, lat, lon] = [file.region, file.lat, file.lon].map((text) => sums(numbers(text)))
  const [codeLat, codeLon] = [numbers(file.codeLat), numbers(file.codeLon)]
  const all = file.names.split('\n').map((name, i) => ({
    names: name.split('|'), region: file.regions[region[i]], lat: lat[i], lon: lon[i], size: Number.parseInt(file.size[i], 36), text: fold(name.split('|')),
  }))
  let code = ''
  const codes = []
  file.codes.split('\n').forEach((line, i) => {
    for (const tail of line ? line.split(' ') : []) {
      code = tail[0] === '=' ? tail.slice(1) : code.slice(0, code.length - tail.length) + tail
      const n = codes.length
      codes.push({ code, text: spellings(code)[0].replaceAll(' ', ''), entry: all[i], lat: (lat[i] + codeLat[n]) / 100, lon: (lon[i] + codeLon[n]) / 100 })
    }
  })
  for (const entry of all) {
    entry.lat /= 100
    entry.lon /= 100
  }
  const index = createIndex(all.map(({ text }) => text), region, file.regions.map((name) => fold([regionName(name)])))
  return { credit: file.credit, all, index, codes }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const values = Object.fromEntries([...digits].map((c, i) => [c, i]))

// numbers reads numbers as source maps have them.
function numbers(text) {
  const list = []
  let number = 0
  let factor = 1
  for (const c of text) {
    number += values[c] % 32 * factor
    factor *= 32
    if (values[c] >= 32) continue
    list.push(number % 2 ? -(number - 1) / 2 : number / 2)
    number = 0
    factor = 1
  }
  return list
}

function sums(list) {
  let sum = 0
  return list.map((n) => (sum += n))
}

/**
 * Returns the places that match a search, the best first: of places whose names begin with it, the largest, or the largest of exactly that name.
 * A text with digits finds postcodes that begin with them. Parts inside words are not enough, because they would find hundreds of places.
 * @param {Gazetteer} gazetteer @param {import('./match.js').Query} query @returns {Place[]}
 */
export function findPlaces({ all, index, codes }, query) {
  if (query.words.some(hasDigit)) return findCodes(codes, query)
  const found = findIn(query, index, true).map(({ entry, rank }) => ({ entry: all[entry], rank }))
    .filter(({ entry, rank }) => rank < ranks.isRegion || query.words.some((word) => rankByName([word], entry.text) < ranks.none))
  const weight = ({ size, text }) => size + (query.phrases.some((phrase) => `${text}\n`.includes(`${phrase}\n`)) ? wholeName : 0)
  return found.sort((a, b) => a.rank - b.rank || weight(b.entry) - weight(a.entry))
    .slice(0, maxShown).map(({ entry }) => toPlace(entry, entry, nameFor(entry, query)))
}

// rankByName ranks words in the text of a place, whatever its region.
const rankByName = (words, text) => rankOf({ phrases: [], words, driver: 0 }, text, words.map(() => ranks.none), true)

/** @param {{spellings: string[]}} word */
const hasDigit = ({ spellings: [text] }) => /\d/.test(text)

// findCodes finds the postcodes that begin with the words with digits; the other words are those of the place.
function findCodes(codes, { words }) {
  const typed = words.filter(hasDigit).map(({ spellings: [word] }) => word.slice(1)).join('')
  const others = words.filter((word) => !hasDigit(word))
  return codes.filter(({ text, entry }) => text.startsWith(typed) && rankByName(others, entry.text) <= ranks.startsWord)
    .slice(0, maxShown).map((area) => toPlace(area, area.entry, `${area.code} ${area.entry.names[0]}`))
}

// nameFor returns the name of a place that was searched for.
function nameFor({ names }, query) {
  const named = (most) => names.find((name) => rankByName(query.words, fold([name])) <= most)
  return named(ranks.startsWord) ?? named(ranks.misspelt) ?? names[0]
}

/** @param {{lat: number, lon: number}} at @param {Entry} entry @param {string} short @returns {Place} */
function toPlace({ lat, lon }, { names: [first], region }, short) {
  const also = short.endsWith(first) ? '' : ` (${first})`
  return { name: `${short}${also}${region === first ? '' : `, ${regionName(region)}`}`, short, lat, lon }
}

const countries = new Intl.DisplayNames(language, { type: 'region' })

// regionName returns the name of a region; a country has its code.
const regionName = (region) => (/^[A-Z]{2}$/.test(region) ? countries.of(region) : region)
