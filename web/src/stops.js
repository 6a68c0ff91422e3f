// The days of the forecast: the stops of the timeline after the newest week.
import { dayMs, now } from './calendar.js'

/**
 * Returns the stops that are not over, as weeks ahead with the time of their day.
 * @param {ForecastIssue | null | undefined} issue @param {number} [today]
 */
export function stopsOf(issue, today = now()) {
  const days = Array.from({ length: issue?.weeks ?? 0 }, (_, i) => ({ week: String(i + 1), time: Date.parse(issue.issued_at) + 7 * dayMs * (i + 1) }))
  return days.filter(({ time }) => time + dayMs > today)
}
