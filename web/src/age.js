// How old a measurement is: today, or on the last day of the past week that is shown.
import { dayMs, startOf, weekOf } from './calendar.js'
import { ago } from './words.js'

const oldAfter = 14 // days: two passes of a weekly product; what was so then says little of the water of today

/** The time that ages are reckoned from: now, or the end of the week of that date. */
export const reference = (date) => Math.min(Date.now(), date ? startOf(weekOf(date) + 1) - 1 : Infinity)

/** Days by the calendar, as the date beside it, from a measurement to the reference. */
export const daysOld = (measuredAt, from) => Math.max(0, Math.floor(from / dayMs) - Math.floor(Date.parse(measuredAt) / dayMs))

/** How long ago something was measured, in words. */
export const age = (measuredAt, from) => ago(daysOld(measuredAt, from))

/** Reports whether a measurement is too old to tell of the water now. */
export const isOld = (measuredAt, from) => daysOld(measuredAt, from) > oldAfter
