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
    const [line, more, seen] = highsText(counts, startOfWeek(week + 1) > now())
    const [rest, besideDate] = [more, seen].map((text) => element('span', {}, text ?? ''))
    box.replaceChildren(line, rest)
    // Where there is no room for the rest, the line above has how many lakes were seen, unless it would need a second line for that.
    const { parentElement: header } = box
    const height = header.offsetHeight
    if (!rest.checkVisibility()) byId('date').append(besideDate)
    if (header.offsetHeight > height) besideDate.remove()
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
 * Returns the line; what follows where there is room; and in short how many of all lakes were seen, which is a part of that. It ends with what has changed
 * at the lakes that were measured in this week and in the one before: others are missing because of clouds, or their value became too old. Without
 * a value the line does not say that no lake has a high risk: that would look as if no lake were bad. It begins with the closed lakes; then nothing
 * is compared, and how many were measured in the week follows where there is room.
 * @param {any} counts of a week @param {boolean} [isNow] whether the week is not over
 */
export function highsText(counts, isNow) {
  const { advisory, common, highs: text } = words
  const { total_lakes: all, lakes_with_data: n, measured, high, high_measured: highMeasured, closed, both_weeks: both } = counts ?? {}
  const closedText = closed ? advisory.kinds.closure + common.colon + number(closed) : ''
  if (!n || !high && closed) return [closedText] // closed lakes are worse than any value
  const inWeek = `, ${fill(text[isNow ? 'thisWeek' : 'thatWeek'], { n: number(high ? highMeasured : measured) })}`
  const [seen, inShort] = [text.seen, text.seenShort].map((told) => (all ? ` · ${fill(told, { n: Math.round(100 * measured / all) })}` : ''))
  let [line, rest] = [high ? count(text.lakes, high) : fill(text.none, { n: number(n) }), seen]
  if (closed) {
    line = `${closedText} · ${line}`
    rest = inWeek + seen
  } else line += inWeek
  if (!closed && both?.measured) {
    const more = both.high - both.high_before
    rest += ` · ${fill(text.both, { n: number(both.measured), change: fill(text[more > 0 ? 'more' : more ? 'fewer' : 'same'], { n: number(Math.abs(more)) }) })}`
  }
  return [line, rest, inShort]
}
