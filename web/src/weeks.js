// The weeks that there are data for: where each stands in time, and what it is called.
import { element, svg } from './dom.js'
import { days, fill, words } from './words.js'

const day = 86_400_000 // ms
const mostMonths = 210 // weeks beyond which months would be a grey band, and only years are marked
const aYear = 60 // weeks up to which years would say too little, and months are named

const since = (from, to) => (Date.parse(to) - Date.parse(from)) / (7 * day)

/** The place of each week on the slider: how many weeks after the first it is. Weeks without any data have none. */
export const places = (weeks) => weeks.map(({ date }) => Math.round(since(weeks[0].date, date)))

/** Which of the weeks a view's date is in: null is in the newest; -1 is none. */
export const indexOf = (weeks, date) => (
  date === null ? weeks.length - 1 : weeks.findIndex((w) => since(w.date, date) >= 0 && since(w.date, date) < 1)
)

/**
 * Has the view name its week as the data do: by its Monday, and the newest by no date at all. Of a date that there are
 * no data for it shows the newest week, and returns what is to be said about that.
 */
export function settleDate(view, weeks) {
  const { date } = view.get()
  const i = indexOf(weeks, date)
  view.set({ date: i < 0 || i === weeks.length - 1 ? null : weeks[i].date })
  return i < 0 && date !== null ? fill(words.time.unknown, { date }) : ''
}

/** A week in words: Week 47, 16–22 Nov 2026. */
export const inWords = ({ week, date }) => (
  fill(words.time.inWords, { n: Number(week.slice(6)), days: days(date, Date.parse(date) + 6 * day) })
)

/** A picture of how many of `most` lakes have a value in each week, with a line where a month begins. */
export function drawWeeks(weeks, at, most) {
  const marks = weeks.map((w, i) => `M${at[i] - 0.4} 1v-${w.lakes_with_data / most}h.8V1z${at.at(-1) < mostMonths && begins(weeks, i, 7) ? 'm0 0v.2h.4V1z' : ''}`)
  const picture = svg('svg', { viewBox: `0 0 ${at.at(-1)} 1`, preserveAspectRatio: 'none', 'aria-hidden': true })
  picture.append(svg('path', { d: marks.join('') }))
  return picture
}

// begins reports whether another year (4 characters of a date) or month (7) begins with a week.
const begins = (weeks, i, length) => i > 0 && weeks[i].date.slice(0, length) !== weeks[i - 1].date.slice(0, length)

/** The names below the slider: years, or months where the weeks are of one year or so; so many that they do not touch. */
export function drawScale(weeks, at) {
  const length = at.at(-1) < aYear ? 7 : 4
  const starts = [...at.keys()].filter((i) => begins(weeks, i, length))
  const row = element('div', { className: 'scale', ariaHidden: 'true' })
  for (const i of starts.filter((_, n) => n % Math.ceil(starts.length / 5) === 0)) {
    const name = element('span', {}, weeks[i].date.slice(0, length))
    name.style.left = `${100 * at[i] / at.at(-1)}%`
    row.append(name)
  }
  return row
}
