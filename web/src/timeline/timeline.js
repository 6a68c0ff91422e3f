// The picture behind the slider of the weeks: bars, and the names of months. It is a script of its own, since the slider works before it loads. What
// prepares the page for printing comes with it: another answer would cost a kilobyte of header fields.
import { dayMs, monthName, monthTicks } from '../calendar.js'
import { element } from '../dom.js'
import { aheadWeeks, hasFew, shares, worstFirst } from '../weeks.js'

export { addPrint } from './print.js'

const nameWidth = 56 // px that the name of a month needs
const minSwipe = 24 // px

/** Returns a path of bars for each risk, the worst first and lowest. A bar is the share of the week's values; a week with few values has low bars.
 * @param {Week[]} weeks @param {number[]} at @param {number} max @param {number} width */
export const sharePaths = (weeks, at, max, width) => worstFirst.map((_, k) => weeks.map((week, i) => {
  const all = shares(week)
  const height = hasFew(week, max) ? week.lakes_with_data / max : 1
  const below = all.slice(0, k).reduce((sum, share) => sum + share, 0)
  return all[k] ? `M${at[i] - width / 2} ${1 - below * height}v-${all[k] * height}h${width}v${all[k] * height}z` : ''
}).join(''))

/**
 * Draws bars for the shares of the risks in each week, `max` of which have the most values, and for the days of the forecast, from the position `left`
 * on, and names the months below them.
 * @param {HTMLElement} track @param {Week[]} weeks @param {number[]} at @param {number} max @param {Legend} legend @param {number} left @param {number} span
 */
export function drawTimeline(track, weeks, at, max, { classes }, left, span) {
  const [picture, slider, scale] = /** @type {any} */ (track.children)
  picture.setAttribute('viewBox', `${left} 0 ${span} 1`)
  const width = Math.min(0.8, span / 60) // few weeks have slim bars too, which stay in the track
  const seen = [...weeks.keys()].filter((i) => at[i] >= left && at[i] <= left + span)
  const ahead = at.slice(weeks.length).filter((p) => p <= left + span).map((p) => `M${p - aheadWeeks + 1} 1v-1h${aheadWeeks - 0.5}v1z`).join('')
  const paths = [...sharePaths(seen.map((i) => weeks[i]), seen.map((i) => at[i]), max, width), ahead]
  for (const [k, path] of [...picture.children].entries()) {
    path.setAttribute('d', paths[k])
    path.style.fill = classes.find(({ risk }) => risk === worstFirst[k])?.color ?? ''
  }
  const first = Date.parse(weeks[0].date)
  const time = (position) => first + position * 7 * dayMs
  scale.replaceChildren(...monthTicks(time(left), Math.min(time(left + span), Date.parse(weeks.at(-1).date)), Math.floor(slider.clientWidth / nameWidth) - 1).map(([year, month]) => {
    const label = element('span', {}, monthName(year, month))
    label.style.left = `${100 * ((Date.UTC(year, month) - first) / 7 / dayMs - left) / span}%`
    return label
  }))
}

/** Calls `go` with 1 or -1 for each swipe over an element: to the left is later, as on a page. @param {HTMLElement} e @param {(step: number) => void} go */
export function addSwipe(e, go) {
  let from = null // where it began
  e.onpointerdown = ({ clientX }) => { from = clientX }
  e.onpointermove = ({ clientX }) => {
    if (from === null || Math.abs(clientX - from) < minSwipe) return
    go(Math.sign(from - clientX))
    from = null
  }
  addEventListener('pointerup', () => { from = null })
}
