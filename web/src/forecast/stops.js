// The stops of the forecast's slider: now, and the days of the forecast that are not over.
import { dayMs } from '../calendar.js'

/**
 * Returns the stops, as weeks ahead of the day of issue with the time of their day. The first is now, which has no week.
 * @param {ForecastIssue} issue @param {number} [now]
 */
export function stopsOf({ issued_at: issued, weeks }, now = Date.now()) {
  const ahead = Array.from({ length: weeks }, (_, i) => ({ week: String(i + 1), time: Date.parse(issued) + 7 * dayMs * (i + 1) }))
  return [{ week: '0', time: now }, ...ahead.filter(({ time }) => time + dayMs > now)]
}

/** Returns the index of the stop of a week; that of the next one if its day is over. @param {ReturnType<typeof stopsOf>} stops @param {string} week */
export const stopAt = (stops, week) => Math.max(0, stops.findIndex((stop) => (week === '0' ? stop.week === '0' : stop.week >= week && stop.week !== '0')))
