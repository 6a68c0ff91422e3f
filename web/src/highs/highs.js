// The first line of the page: how many lakes are closed, how many have a high risk, and how many more or fewer than a week before. It is a script of its own,
// which loads after the map.
import { weekNumber } from '../calendar.js'
import { byId } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { indexOf } from '../weeks.js'
import { count, fill, number, words } from '../words.js'

const delay = 400 // ms that a week must be shown: no requests while weeks play
const maxCounts = 200 // weeks
const maxChange = 0.1 // of the number of lakes with a value: weeks that differ more cannot be compared

/** Shows the line for the week of the map, and hides it with a forecast. @param {Page} page */
export function addHighs(page) {
  const { store } = page
  const box = byId('highs')
  const counts = new Map() // by version and week, null for the newest
  const load = (date) => {
    const key = `${page.config.version} ${date}`
    if (counts.size >= maxCounts) counts.clear()
    if (!counts.has(key)) counts.set(key, fetchJSON(`api/v1/bathing-lakes/stats?by=risk${date ? `&date=${date}` : ''}`, {}, () => {}).then(({ all }) => all, () => void counts.delete(key)))
    return counts.get(key)
  }
  // If all lakes are loaded, the page counts those of the week of the map itself.
  const loadShown = ({ lakes, date, complete }) => (complete ? countLakes(lakes) : load(date))
  let timer
  const show = async (/** @type {Lakes} */ shown) => {
    const i = indexOf(page.weeks, shown.date)
    const before = page.weeks[i - 1]?.date
    const isWeekBefore = before && weekNumber(page.weeks[i].date) - weekNumber(before) === 1
    const [now, then] = shown.forecast > '0' ? [] : await Promise.all([loadShown(shown), isWeekBefore && load(before)])
    if (shown === store.get()) box.textContent = highsText(now, then)
  }
  const showSoon = (lakes) => {
    box.textContent = ''
    clearTimeout(timer)
    timer = setTimeout(show, delay, lakes)
  }
  store.on(showSoon)
  showSoon(store.get())
}

/** Counts lakes: those with a current value, those of them with a high risk that are open, and those that are closed. @param {Lake[]} lakes */
export function countLakes(lakes) {
  const measured = lakes.filter(({ chl }) => chl !== null)
  return { lakes_with_data: measured.length, risk: { high: measured.filter(({ risk, closed }) => risk === 'high' && !closed).length }, closed: lakes.filter(({ closed }) => closed).length }
}

/**
 * Returns the line. Without a value it does not say that no lake has a high risk: that would look as if no lake were bad. It begins with the closed
 * lakes, beside which there is no room for a comparison. It compares only weeks in which nearly as many lakes have a value.
 * @param {any} now the counts of a week @param {any} [before] those of the week before
 */
export function highsText(now, before) {
  const text = words.highs
  const n = now?.lakes_with_data
  const high = now?.risk.high
  const closed = now?.closed ? `${words.advisory.kinds.closure}${words.common.colon}${number(now.closed)}` : ''
  if (!n || !high && closed) return closed // closed lakes are worse than any value
  const line = high ? count(text.lakes, high) : fill(text.none, { n: number(n) })
  if (closed) return `${closed} · ${line}`
  if (!before || Math.abs(before.lakes_with_data - n) > maxChange * n) return line
  const more = high - before.risk.high
  return `${line}, ${fill(text[more > 0 ? 'more' : more ? 'fewer' : 'same'], { n: number(Math.abs(more)) })}`
}
