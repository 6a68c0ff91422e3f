// The weeks with data: their positions on the slider, and their names.
import { dayMs } from './calendar.js'
import { days, fill, words } from './words.js'

/** The weeks of the slider for one of the forecast, which has few. */
export const aheadWeeks = 3

/** The risks as the bars have them, from below. */
export const worstFirst = ['high', 'medium', 'low']

const weeksBetween = (from, to) => (Date.parse(to) - Date.parse(from)) / (7 * dayMs)

/** Returns the positions of the weeks on the slider: the weeks since the first one. Weeks without data leave gaps.
 * @param {Week[]} weeks */
export const positions = (weeks) => weeks.map(({ date }) => Math.round(weeksBetween(weeks[0].date, date)))

/** Returns the index of the position nearest to a value of the slider. @param {number[]} at @param {number} value */
export const nearestIndex = (at, value) => at.reduce((best, p, i) => (Math.abs(p - value) < Math.abs(at[best] - value) ? i : best), 0)

/** Returns the index of the week that contains a date; null is in the newest week. -1 if there is no such week.
 * @param {Week[]} weeks @param {string | null} date */
export const indexOf = (weeks, date) => (
  date === null ? weeks.length - 1 : weeks.findIndex((w) => Math.floor(weeksBetween(w.date, date)) === 0)
)

/** Returns the date of a week in the view: its Monday, and null for the newest week. @param {Week[]} weeks @param {number} i */
export const dateOf = (weeks, i) => (i === weeks.length - 1 ? null : weeks[i].date)

/**
 * Sets the date of the view to the Monday of its week. For a date without data it selects the newest week and returns a
 * message about that, otherwise an empty string.
 * @param {View} view @param {Week[]} weeks
 */
export function normalizeDate(view, weeks) {
  const { date } = view.get()
  const i = indexOf(weeks, date)
  view.set({ date: i < 0 ? null : dateOf(weeks, i) })
  return i < 0 && date !== null ? fill(words.time.unknown, { date }) : ''
}

/** Returns a week in words: Week 47, 16–22 Nov 2026. @param {Pick<Week, 'week' | 'date'>} week */
export const describeWeek = ({ week, date }) => (
  fill(words.time.inWords, { n: Number(week.slice(6)), days: days(date, Date.parse(date) + 6 * dayMs) })
)

/** Returns the positions of the stops of a forecast on the slider, after the newest week. @param {number} newest @param {unknown[]} stops */
export const positionsAhead = (newest, stops) => stops.map((_, i) => newest + aheadWeeks * (i + 1))

/** Reports whether a week has few values: at most half of `max`. @param {Week} week @param {number} max */
export const hasFew = ({ lakes_with_data: n }, max) => n * 2 <= max

/** Returns the shares of the risks of a week's values, in the order of worstFirst. A list that was kept for use offline may have none.
 * @param {Week} week */
export const shares = ({ risk, lakes_with_data: n }) => worstFirst.map((name) => (risk?.[name] ?? 0) / Math.max(1, n))
