// Days and weeks as the data count them, in UTC with weeks that begin on Monday, and the age of measurements.
import { ago, language } from './words.js'

/** A day in ms. */
export const dayMs = 86_400_000

const monthSteps = [1, 3, 6, 12, 24, 60, 120, 240, 1200]

const oldAfter = 14 // days: two passes of a weekly product; an older value says little about the water today

/** Returns the number of the week of a date. Numbers of consecutive weeks differ by 1; day 0 of the Unix epoch was a Thursday.
 * @param {string} date */
export const weekNumber = (date) => Math.floor((Date.parse(date) / dayMs + 3) / 7)

/** Returns when a week begins, in ms. @param {number} week */
export const startOfWeek = (week) => (week * 7 - 3) * dayMs

/** @type {number | undefined} */
let end

/** Ages count from the end of a day, for an archive. @param {string} [day] */
export const countFrom = (day) => { end = day && Date.parse(day) + dayMs - 1 }

/** Returns the time from which ages count back. */
export const now = () => end ?? Date.now()

/** Returns that time, or the end of the week of a date. @param {string | null} date */
export const referenceTime = (date) => Math.min(now(), date ? startOfWeek(weekNumber(date) + 1) - 1 : Infinity)

/** Returns how many calendar days a measurement is older than the reference time.
 * @param {string} measuredAt @param {number} reference */
export const ageInDays = (measuredAt, reference) => Math.max(0, Math.floor(reference / dayMs) - Math.floor(Date.parse(measuredAt) / dayMs))

/** Returns the age of a measurement in words. @param {string} measuredAt @param {number} reference */
export const ageText = (measuredAt, reference) => ago(ageInDays(measuredAt, reference))

/** Reports whether a measurement is too old to describe the water at the reference time.
 * @param {string} measuredAt @param {number} reference */
export const isOld = (measuredAt, reference) => ageInDays(measuredAt, reference) > oldAfter

/** Returns the months that a time axis names, as [year, month] with month 0 for January; at most `max` and one more.
 * @param {number} first @param {number} last @param {number} [max] */
export function monthTicks(first, last, max = 5) {
  const months = (time) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth()
  const [from, to] = [months(first), months(last)]
  const step = monthSteps.find((s) => (to - from) / s <= max) ?? monthSteps.at(-1)
  const ticks = []
  for (let m = Math.floor(from / step) * step + step; m <= to; m += step) ticks.push([Math.floor(m / 12), m % 12])
  return ticks
}

/** Returns the name of a month on a time axis: that of its year for January. @param {number} year @param {number} month */
export const monthName = (year, month) => (month ? new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' }).format(Date.UTC(year, month)) : String(year))
