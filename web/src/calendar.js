// Days and weeks as the data count them, in UTC with weeks that begin on Monday, and the age of measurements.
import { ago } from './words.js'

/** A day in ms. */
export const dayMs = 86_400_000

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
