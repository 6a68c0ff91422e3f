// The history on a card: a chart and links to the values.
import { ageText } from '../calendar.js'
import { element } from '../dom.js'
import { retryButton } from '../message.js'
import { date, fill, words } from '../words.js'
import { drawChart } from './chart.js'
import { entryOf, historyURL, loadHistory, maxEntries, twoYears } from './entries.js'
import { forecastLines } from './forecast.js'
import { certainty, originOf } from './origin.js'

const timeout = 20_000 // ms

/**
 * Fills the history section of a card, and what only the history knows about the card's value. The function that it returns takes the
 * Monday of the week shown, the lake, and the date of the view, which is null for the newest week.
 * @param {HTMLElement} section @param {string} id @param {Legend} legend
 */
export function cardHistory(section, id, legend) {
  const [more, state, figure, ahead, json, csv] = /** @type {any} */ (section.querySelectorAll('[name=more], [role=status], figure, .ahead, a'))
  json.href = historyURL(id)
  csv.href = `${historyURL(id)}.csv`
  /** @type {AbortSignal | undefined} */
  let request
  /** @type {Awaited<ReturnType<typeof loadHistory>> | null} */
  let history = null
  let monday = ''
  /** @type {Lake} */
  let lake
  /** @type {string | null} */
  let viewDate
  const showCurrent = () => {
    const current = history && entryOf(lake, history.entries, viewDate)
    showValue(section.parentElement, current)
    return current
  }
  const showsAll = () => more.ariaPressed === 'true'
  const show = () => {
    const { entries, complete, keptAt } = history
    // A week before the first entry needs all entries.
    if (!complete && !showsAll() && monday < entries[0].date) return load(maxEntries)
    more.hidden = complete && !showsAll()
    const current = showCurrent()
    if (entries.length > 0) drawChart(figure, entries, legend, monday, current)
    else state.textContent = words.common.never
    ahead.replaceChildren(...forecastLines(history).map((line) => element('p', {}, line)))
    if (keptAt) state.textContent = fill(words.common.asOf, { date: date(keptAt), age: ageText(keptAt, Date.now()) })
  }
  const load = async (limit) => {
    const signal = request = AbortSignal.timeout(timeout)
    more.ariaPressed = String(limit === maxEntries)
    state.textContent = words.card.loading
    showCurrent() // nothing about the value before
    try {
      const loaded = await loadHistory(id, limit, signal)
      if (signal !== request) return
      history = loaded
      state.textContent = ''
      show()
    } catch {
      if (signal !== request) return
      history = null
      showCurrent()
      figure.querySelector('svg').replaceChildren()
      ahead.replaceChildren()
      state.replaceChildren(...retryButton(() => load(limit)))
    }
  }
  more.onclick = () => load(showsAll() ? twoYears : maxEntries)
  return (/** @type {string} */ newMonday, /** @type {Lake} */ newLake, /** @type {string | null} */ newDate) => {
    monday = newMonday
    lake = newLake
    viewDate = newDate
    if (!request) load(twoYears)
    else if (history && lake.chl !== null && lake.measured_at.slice(0, 10) > history.newest) load(showsAll() ? maxEntries : twoYears) // a newer value has come
    else if (history) show()
  }
}

// showValue completes the value on the card.
function showValue(article, entry) {
  for (const [name, text] of Object.entries(originOf(entry))) article.querySelector(`[data-entry=${name}]`).textContent = text
  const value = certainty(entry)
  if (value) article.querySelector('[data-fact=chlorophyll]').textContent = value
}
