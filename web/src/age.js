// The age of a measurement: today, or on the last day of the past week that is shown.
import { dayMs, startOfWeek, weekNumber } from './calendar.js'
import { ago } from './words.js'

const oldAfter = 14 // days: two passes of a weekly product; an older value says little about the water today

/**
 * Returns the time from which ages count back: now, or the end of the week of a date.
 * @param {string | null} date
 */
export const referenceTime = (date) => Math.min(Date.now(), date ? startOfWeek(weekNumber(date) + 1) - 1 : Infinity)

/**
 * Returns how many calendar days a measurement is older than the reference time.
 * @param {string} measuredAt
 * @param {number} reference
 */
export const ageInDays = (measuredAt, reference) => Math.max(0, Math.floor(reference / dayMs) - Math.floor(Date.parse(measuredAt) / dayMs))

/**
 * Returns the age of a measurement in words.
 * @param {string} measuredAt
 * @param {number} reference
 */
export const ageText = (measuredAt, reference) => ago(ageInDays(measuredAt, reference))

/**
 * Reports whether a measurement is too old to describe the water at the reference time.
 * @param {string} measuredAt
 * @param {number} reference
 */
export const isOld = (measuredAt, reference) => ageInDays(measuredAt, reference) > oldAfter
