// The first line of the page: how many lakes are closed, how many have a high risk, how many of these were measured in the week of the map, and
// how many more or fewer than a week before. It is a script of its own, which loads after the map.
import { now, startOfWeek, weekNumber } from '../calendar.js'
import { byId, element } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { indexOf } from '../weeks.js'
import { count, fill, number, words } from '../words.js'

const delay = 400 // ms that a week must be shown: no requests while weeks play

/** Shows the line for the week of the map, and hides it with a forecast. @param {Page} page */
export function addHighs(page) {
  const { store } = page
  const box = byId('highs')
  const load = (date) => fetchJSON(`api/v1/bathing-lakes/stats?by=risk${date ? `&date=${date}` : ''}`, {}, () => {})
    .then(({ all, week_counts: week }) => ({ ...all, ...week }), () => {})
  let timer
  const show = async (/** @type {Lakes} */ shown) => {
    const week = weekNumber(page.weeks[indexOf(page.weeks, shown.date)]?.date)
    const isAhead = shown.forecast > '0'
    const loaded = isAhead ? null : await load(shown.date)
    if (shown !== store.get()) return
    // If all lakes are loaded, the page counts those of the map itself, also if the server does not answer.
    const counts = shown.complete && !isAhead ? { ...loaded, ...countLakes(shown.lakes, week) } : loaded
    const [line, change] = highsText(counts, startOfWeek(week + 1) > now())
    box.replaceChildren(line, change ? element('span', {}, change) : '')
  }
  const showSoon = (lakes) => {
    box.textContent = ''
    clearTimeout(timer)
    timer = setTimeout(show, delay, lakes)
  }
  store.on(showSoon)
  showSoon(store.get())
}

/** Counts lakes as the server does: those with a current value, those of them that were measured in the week, those with a high risk that are
 * open, and those that are closed. @param {Lake[]} lakes @param {number} week */
export function countLakes(lakes, week) {
  const current = lakes.filter(({ chl }) => chl !== null)
  const inWeek = (list) => list.filter(({ measured_at: day }) => weekNumber(day) === week).length
  const high = current.filter(({ risk, closed }) => risk === 'high' && !closed)
  return { total_lakes: lakes.length, lakes_with_data: current.length, measured: inWeek(current), high: high.length, high_measured: inWeek(high), closed: lakes.filter(({ closed }) => closed).length }
}

/**
 * Returns the line, and what has changed at the lakes that were measured in this week and in the one before: others are missing because of
 * clouds, or their value became too old. Without a value the line does not say that no lake has a high risk: that would look as if no lake were
 * bad. It begins with the closed lakes; then nothing is compared. How many of all lakes were seen stands after it.
 * @param {any} counts of a week @param {boolean} [isNow] whether the week is not over
 */
export function highsText(counts, isNow) {
  const { advisory, common, highs: text } = words
  const { total_lakes: all, lakes_with_data: n, measured, high, high_measured: highMeasured, closed, both_weeks: both } = counts ?? {}
  const closedText = closed ? advisory.kinds.closure + common.colon + number(closed) : ''
  if (!n || !high && closed) return [closedText] // closed lakes are worse than any value
  const line = `${high ? count(text.lakes, high) : fill(text.none, { n: number(n) })}, ${fill(text[isNow ? 'thisWeek' : 'thatWeek'], { n: number(high ? highMeasured : measured) })}`
  const seen = all ? ` · ${fill(text.seen, { n: Math.round(100 * measured / all) })}` : ''
  if (closed) return [`${closedText} · ${line}`, seen]
  if (!both?.measured) return [line, seen]
  const more = both.high - both.high_before
  const change = fill(text[more > 0 ? 'more' : more ? 'fewer' : 'same'], { n: number(Math.abs(more)) })
  return [line, `${seen} · ${fill(text.both, { n: number(both.measured), change })}`]
}
