// The weeks that there are data for: where each stands in time, and what it is called.
import { element } from './dom.js'
import { days, fill, words } from './words.js'

const day = 86_400_000 // ms
const aYear = 60 // weeks up to which years would say too little, and months are named
const mostNames = 5 // below the slider

const since = (from, to) => (Date.parse(to) - Date.parse(from)) / (7 * day)

/** The place of each week on the slider: how many weeks after the first it is. Weeks without any data have none. */
export const places = (weeks) => weeks.map(({ date }) => Math.round(since(weeks[0].date, date)))

/** Which of the weeks a view's date is in: null is in the newest; -1 is none. */
export const indexOf = (weeks, date) => (
  date === null ? weeks.length - 1 : weeks.findIndex((w) => Math.floor(since(w.date, date)) === 0)
)

/** What a view calls one of the weeks: its Monday, and the newest by no date at all. */
export const dateOf = (weeks, i) => (i === weeks.length - 1 ? null : weeks[i].date)

/**
 * Has the view name its week as the data do. Of a date that there are no data for it shows the newest week, and returns
 * what is to be said about that.
 */
export function settleDate(view, weeks) {
  const { date } = view.get()
  const i = indexOf(weeks, date)
  view.set({ date: i < 0 ? null : dateOf(weeks, i) })
  return i < 0 && date !== null ? fill(words.time.unknown, { date }) : ''
}

/** A week in words: Week 47, 16–22 Nov 2026. */
export const inWords = ({ week, date }) => (
  fill(words.time.inWords, { n: Number(week.slice(6)), days: days(date, Date.parse(date) + 6 * day) })
)

/**
 * Draws behind the slider how many of `most` lakes have a value in each week, and names the years below it, or the months
 * where the weeks are of one year or so; so many that they do not touch.
 */
export function drawWeeks(box, weeks, at, most) {
  const end = at.at(-1)
  const picture = box.querySelector('svg')
  picture.setAttribute('viewBox', `0 0 ${end} 1`)
  picture.firstChild.setAttribute('d', weeks.map((w, i) => `M${at[i] - 0.4} 1v-${w.lakes_with_data / most}h.8V1z`).join(''))
  const name = (i) => weeks[i].date.slice(0, end < aYear ? 7 : 4)
  const starts = [...at.keys()].filter((i) => i > 0 && name(i) !== name(i - 1))
  const named = starts.filter((_, n) => n % Math.ceil(starts.length / mostNames) === 0)
  box.querySelector('.scale').replaceChildren(...named.map((i) => {
    const mark = element('span', {}, name(i))
    mark.style.left = `${100 * at[i] / end}%`
    return mark
  }))
}
