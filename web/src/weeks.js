// The weeks with data: their positions on the slider, and their names.
import { dayMs } from './calendar.js'
import { element } from './dom.js'
import { days, fill, words } from './words.js'

const maxNamedMonths = 60 // weeks: below it the axis names months, above it years
const maxNames = 5 // on the axis

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

/**
 * Returns the indexes of the weeks that the axis names, and a function that returns their names: years, or months if the weeks
 * span little more than a year. There are few enough that the names do not touch.
 * @param {Week[]} weeks @param {number[]} at
 */
export function axisNames(weeks, at) {
  const name = (i) => weeks[i].date.slice(0, at.at(-1) < maxNamedMonths ? 7 : 4)
  const starts = [...at.keys()].filter((i) => i > 0 && name(i) !== name(i - 1))
  return { name, named: starts.filter((_, n) => n % Math.ceil(starts.length / maxNames) === 0) }
}

/** Reports whether a week has few values: at most half of `max`. @param {Week} week @param {number} max */
export const hasFew = ({ lakes_with_data: n }, max) => n * 2 <= max

/** Returns the shares of the risks of a week's values, in the order of worstFirst. A list that was kept for use offline may have none.
 * @param {Week} week */
export const shares = ({ risk, lakes_with_data: n }) => worstFirst.map((name) => (risk?.[name] ?? 0) / Math.max(1, n))

/** Returns a path of bars for each risk, the worst first and lowest. A bar is the share of the week's values; a week with few values has low bars.
 * @param {Week[]} weeks @param {number[]} at @param {number} max @param {number} width */
export const sharePaths = (weeks, at, max, width) => worstFirst.map((_, k) => weeks.map((week, i) => {
  const all = shares(week)
  const height = hasFew(week, max) ? week.lakes_with_data / max : 1
  const below = all.slice(0, k).reduce((sum, share) => sum + share, 0)
  return all[k] ? `M${at[i] - width / 2} ${1 - below * height}v-${all[k] * height}h${width}v${all[k] * height}z` : ''
}).join(''))

/** Draws bars behind the slider for the shares of the risks in each week, `max` of which have the most values, and the names below it.
 * @param {HTMLElement} box @param {Week[]} weeks @param {number[]} at @param {number} max @param {Legend} legend */
export function drawWeeks(box, weeks, at, max, { classes }) {
  const end = at.at(-1)
  const picture = box.querySelector('svg')
  picture.setAttribute('viewBox', `0 0 ${end} 1`)
  const width = Math.min(0.8, end / 60) // few weeks have slim bars too, which stay in the track
  const paths = sharePaths(weeks, at, max, width)
  picture.querySelectorAll('path').forEach((path, k) => {
    path.setAttribute('d', paths[k])
    path.style.fill = classes.find(({ risk }) => risk === worstFirst[k])?.color
  })
  const { name, named } = axisNames(weeks, at)
  box.querySelector('.scale').replaceChildren(...named.map((i) => {
    const label = element('span', {}, name(i))
    label.style.left = `${100 * at[i] / end}%`
    return label
  }))
}
