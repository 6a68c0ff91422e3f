// The stops of the forecast's slider: now, and the days of the forecast that are not over.
import { dayMs, now } from '../calendar.js'

/**
 * Returns the stops, as weeks ahead with the time of their day. The first is now, which has no week.
 * @param {ForecastIssue} issue @param {number} [today]
 */
export function stopsOf({ issued_at: issued, weeks }, today = now()) {
  const days = Array.from({ length: weeks }, (_, i) => Date.parse(issued) + 7 * dayMs * (i + 1))
  return [today, ...days.filter((time) => time + dayMs > today)].map((time, i) => ({ week: String(i), time }))
}

/** Returns the index of the stop of a week; that of now if there is none. @param {ReturnType<typeof stopsOf>} stops @param {string} week */
export const stopAt = (stops, week) => Math.max(0, stops.findIndex((stop) => stop.week === week))
