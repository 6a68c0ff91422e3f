// The weeks that there are data for: where each stands in time, and what it is called.
import { element } from './dom.js'
import { days, fill, month, words } from './words.js'

const day = 86_400_000 // ms
const mostMonths = 210 // weeks beyond which months would be a grey band, and only years are marked

/** The place of each week on the slider: how many weeks after the first it is. Weeks without any data have none. */
export const places = (weeks) => weeks.map(({ date }) => Math.round((Date.parse(date) - Date.parse(weeks[0].date)) / (7 * day)))

/** Which of the weeks a view's date names: null is the newest; -1 is none. */
export const indexOf = (weeks, date) => (date === null ? weeks.length - 1 : weeks.findIndex((w) => w.date === monday(date)))

function monday(date) {
  const t = Date.parse(`${date}T00:00:00Z`)
  if (Number.isNaN(t) || iso(t) !== date) return '' // 31 February becomes a day of March
  return iso(t - ((new Date(t).getUTCDay() + 6) % 7) * day)
}

const iso = (t) => new Date(t).toISOString().slice(0, 10)

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

/** What is to be said of a week of which few lakes have a value: of half of what the best week has, or fewer. */
export function scarcity({ lakes_with_data: n }, weeks) {
  if (n === 0) return words.time.none
  return n * 2 <= most(weeks) ? words.time.few : ''
}

const most = (weeks) => weeks.reduce((max, w) => Math.max(max, w.lakes_with_data), 1)

/** A picture of how many lakes have a value in each week, with a line where a month begins. */
export function drawWeeks(weeks) {
  const at = places(weeks)
  const last = at.at(-1)
  const bars = weeks.map((w, i) => `M${at[i] - 0.4} 1v-${(w.lakes_with_data / most(weeks)).toFixed(3)}h.8V1z`)
  const lines = last > mostMonths ? [] : weeks.flatMap((w, i) => (begins(weeks, i, 7) ? [`M${at[i]} 1v.15`] : []))
  const svg = svgElement('svg', { viewBox: `0 0 ${last} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  svg.append(svgElement('path', { d: bars.join('') }), svgElement('path', { d: lines.join(''), class: 'months' }))
  return svg
}

function svgElement(name, attributes) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  return e
}

// begins reports whether another year (4 characters of a date) or month (7) begins with a week.
const begins = (weeks, i, length) => i > 0 && weeks[i].date.slice(0, length) !== weeks[i - 1].date.slice(0, length)

/** The names below the slider: years, or months where the weeks are of one year or so; so many that they do not touch. */
export function drawScale(weeks) {
  const at = places(weeks)
  const few = at.at(-1) <= 60
  const starts = weeks.map((_, i) => i).filter((i) => begins(weeks, i, few ? 7 : 4))
  const step = Math.ceil(starts.length / 5)
  const row = element('div', { className: 'scale', ariaHidden: 'true' })
  for (const i of starts.filter((_, n) => n % step === 0)) {
    const name = element('span', {}, few && !begins(weeks, i, 4) ? month(weeks[i].date) : weeks[i].date.slice(0, 4))
    name.style.left = `${100 * at[i] / at.at(-1)}%`
    row.append(name)
  }
  return row
}
