// How old a measurement is: today, or on the last day of the past week that is shown.
import { ago } from './words.js'

const day = 86_400_000 // ms
const oldAfter = 14 // days: two passes of a weekly product; what was so then says little of the water of today

/** The time that ages are reckoned from: now, or the end of the week of that date. */
export const reference = (date) => (date ? Math.min(Date.now(), sunday(date)) : Date.now())

// sunday is noon of the last day of a date's ISO week.
function sunday(date) {
  const t = Date.parse(`${date}T12:00:00Z`)
  return t + ((7 - new Date(t).getUTCDay()) % 7) * day
}

/** Days by the calendar, as the date beside it, from a measurement to the reference. */
export const daysOld = (measuredAt, from) => Math.max(0, Math.floor(from / day) - Math.floor(Date.parse(measuredAt) / day))

/** How long ago something was measured, in words. */
export const age = (measuredAt, from) => ago(daysOld(measuredAt, from))

/** Reports whether a measurement is too old to tell of the water now. */
export const isOld = (measuredAt, from) => daysOld(measuredAt, from) > oldAfter
