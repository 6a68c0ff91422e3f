// Where the value on a card is from, and how sure it is: only the history knows it.
import { cleanText } from '../linetext.js'
import { count, date, figure, fill, number, words } from '../words.js'
import { hasRange, lowerEnd, periodText, valueText } from './entries.js'
import { cardWords } from './words.js'

/**
 * Returns what the history knows about the value on a card, by its names there. What is unknown is empty. What the latest observation says beside
 * its value counts, and else that of the value; it has its day if that is another.
 * @param {Entry | undefined} entry @param {Entry} [latest] which may be a gap
 */
export function originOf(entry, latest = entry) {
  const { card, chart } = words
  const { source = '', version = '', method = '', quality } = entry ?? {}
  const seen = (name, text, format = number) => {
    const e = [latest, entry].find((o) => o?.[name] !== undefined)
    return e ? fill(text, { n: format(e[name]) }) + (e === entry ? '' : ` (${date(e.time)})`) : ''
  }
  const short = (n) => figure(n, [])
  return {
    ice: latest?.chl === null && latest.flags?.includes('ice') ? fill(card.ice, { date: date(latest.time) }) : '',
    scum: seen('scum_percent', card.share, short),
    turbidity: seen('turbidity_ntu', '{n} NTU', short),
    secchi: seen('secchi_m', '{n} m'),
    temperature: seen('water_temperature_c', '{n} °C'),
    period: entry?.period_start ? periodText(entry) : '',
    source: cleanText(source),
    version: cleanText(version),
    coverage: coverage(entry ?? {}),
    method: plainMethod(cleanText(method)),
    quality: quality === 'suspect' ? chart.quality.suspect : '',
  }
}

/**
 * Returns the value of an entry with its uncertainty in words; empty if there is nothing to add to the bare value.
 * @param {Entry | undefined} entry
 */
export function certainty(entry) {
  const { probably, below } = words.card
  if (entry?.below_limit) return fill(below, { value: valueText(entry) })
  if (!entry || !hasRange(entry)) return ''
  return fill(probably, { value: valueText(entry), from: figure(lowerEnd(entry)), to: figure(entry.chl_upper) })
}

// coverage says how many of a lake's pixels have a value.
/** @param {Partial<Entry>} entry */
function coverage({ n_valid: n, n_total: total }) {
  const { pixels, pixelsOf } = words.card
  if (n === undefined) return ''
  return total === undefined ? count(pixels, n) : fill(pixelsOf, { n: number(n), total: number(total) })
}

// plainMethod replaces what limnomap writes about pixels by plain words. Methods of laboratories stay as they are.
function plainMethod(method) {
  return Object.entries(cardWords.methods).reduce((text, [part, plain]) => text.replace(part, () => plain), method)
}
