// What is known of a lake in words, and days of the year.
import { date, figure, fill } from '../words.js'

/** Returns what is known in words: where the newest value stands, and a trend that is significant. @param {any} together @param {Record<string, string>} text */
export function knownTexts(together, text) {
  const { newest, trend } = together ?? {}
  const lines = []
  if (newest) {
    const isLower = newest.years_higher > newest.years_lower
    lines.push(fill(isLower ? text.lower : text.higher, { date: date(newest.date), n: isLower ? newest.years_higher : newest.years_lower, years: newest.years }))
  }
  if (trend?.significant && trend.slope) lines.push(fill(trend.slope > 0 ? text.rose : text.fell, { ...trend, slope: figure(Math.abs(trend.slope), []) }))
  return lines
}

/** Returns the day of the year of a date, from 1 to 365. 29 February is 28 February. @param {string} day */
export const dayOfYear = (day) => (Date.parse(`2023${day.slice(4).replace('02-29', '02-28')}`) - Date.UTC(2023, 0)) / 86_400_000 + 1
