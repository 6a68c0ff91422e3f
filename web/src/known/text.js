// What is known of a lake in words, and days of the year.
import { date, figure, fill, number } from '../words.js'

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

const minCompared = 5 // samples: fewer say little, as on the lake's page

/** Returns how often the satellite was right, and whether it is biased. @param {any} compared @param {Record<string, string>} text */
export function comparedTexts({ samples, groups }, text) {
  if (!(samples?.samples >= minCompared)) return []
  const [biased] = groups.filter((g) => g.biased).sort((a, b) => b.match_ups - a.match_ups)
  return [
    fill(text.accuracy, { n: number(samples.samples), same: number(samples.same_class), low: number(samples.shown_lower), high: number(samples.shown_higher) }),
    ...biased ? [fill(text.biased, { factor: number(Math.round(10 * biased.factor) / 10) })] : [],
  ]
}

/** Returns the day of the year of a date, from 1 to 365. 29 February is 28 February. @param {string} day */
export const dayOfYear = (day) => (Date.parse(`2023${day.slice(4).replace('02-29', '02-28')}`) - Date.UTC(2023, 0)) / 86_400_000 + 1
