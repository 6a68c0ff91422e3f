// What was usual at a time of year: the values of earlier years, of satellites or of samples.
import { dayMs, startOfWeek, weekNumber } from '../calendar.js'
import { concentration, count, date, fill } from '../words.js'
import { valueText } from './entries.js'
import { cardWords } from './words.js'

const minYears = 2 // of which there is a median
const maxWeeks = 53 // of a year

/** Returns the year and the number of a week in it as in ISO 8601: a week belongs to the year of its Thursday.
 * @param {number} week */
export function yearAndNumber(week) {
  const thursday = startOfWeek(week) + 3 * dayMs
  const year = new Date(thursday).getUTCFullYear()
  return { year, number: Math.floor((thursday - Date.UTC(year, 0)) / dayMs / 7) + 1 }
}

/** Returns the first week of a year. 4 January is always in it. @param {number} year */
const firstWeek = (year) => weekNumber(new Date(Date.UTC(year, 0, 4)).toISOString())

/** Returns the middle of some numbers, at least one. @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

/**
 * Returns a function that returns the values at the time of year of a week in the years before its own: by year, the median of that week and the
 * weeks beside it, because clouds hide many single weeks. Samples, which are taken at other places and times, are a series of their own.
 * @param {Entry[]} entries oldest first @param {boolean} [sample] the series
 */
function earlierYears(entries, sample = false) {
  const counted = entries.filter((e) => counts(e) && e.sample === sample)
  const values = new Map(counted.map((e) => [e.week, e.chl])) // the latest of several values in one week
  const oldest = counted.length > 0 ? yearAndNumber(counted[0].week).year : Infinity
  return (/** @type {number} */ week) => {
    const { year, number } = yearAndNumber(week)
    const end = firstWeek(year)
    /** @type {Map<number, number>} */
    const years = new Map()
    for (let y = oldest; y < year; y++) {
      const at = firstWeek(y) + number - 1
      const near = [at - 1, at, at + 1].filter((w) => w < end && values.has(w)).map((w) => values.get(w))
      if (near.length > 0) years.set(y, median(near))
    }
    return { years, lastYear: values.get(firstWeek(year - 1) + number - 1) }
  }
}

const counts = (e) => e.chl !== null && !e.forecast && e.quality !== 'poor'

/**
 * Returns what was usual in earlier years, for the weeks of the year of a week: the medians of at least two years, in order, of the series with
 * more values.
 * @param {Entry[]} entries oldest first @param {number} week
 * @returns {{week: number, time: number, chl: number}[]}
 */
export function usualValues(entries, week) {
  const counted = entries.filter(counts)
  const earlier = earlierYears(counted, 2 * counted.filter((e) => e.sample).length > counted.length)
  const { year } = yearAndNumber(week)
  return Array.from({ length: maxWeeks }, (_, i) => firstWeek(year) + i)
    .filter((w) => yearAndNumber(w).year === year) // most years have 52 weeks
    .map((w) => ({ week: w, time: startOfWeek(w) + 3 * dayMs, values: [...earlier(w).years.values()] }))
    .filter(({ values }) => values.length >= minYears)
    .map(({ week: w, time, values }) => ({ week: w, time, chl: median(values) }))
}

/**
 * Returns in words how a value compares with those of its series at the same time of earlier years; empty if there is none, or no value.
 * @param {Entry[]} entries oldest first @param {Entry | undefined} current
 */
export function seasonText(entries, current) {
  if (!current) return ''
  const { years, lastYear } = earlierYears(entries, current.sample)(current.week)
  if (years.size === 0) return ''
  const text = cardWords.season
  const parts = [
    years.size >= minYears && fill(text.usual, { value: concentration(median([...years.values()])), years: count(text.years, years.size) }),
    lastYear === undefined ? text.noLastYear : fill(text.lastYear, { value: concentration(lastYear) }),
  ]
  return fill(text.sentence, { date: date(current.time), value: valueText(current), parts: parts.filter(Boolean).join(', ') })
}
