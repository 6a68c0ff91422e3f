// The history on a card: a chart and links to the values.
import { ageText } from '../calendar.js'
import { retryButton } from '../message.js'
import { date, fill, number, words } from '../words.js'
import { drawChart } from './chart.js'
import { entryOf, historyURL, loadHistory, maxEntries, twoYears, valueText } from './entries.js'

const timeout = 20_000 // ms

/**
 * Fills the history section of a card, and what only the history knows about the card's value. The function that it returns takes the
 * Monday of the week shown, the lake, and the date of the view, which is null for the newest week.
 * @param {HTMLElement} section @param {string} id @param {Legend} legend
 */
export function cardHistory(section, id, legend) {
  const [more, state, figure, json, csv] = /** @type {any} */ (section.querySelectorAll('[name=more], [role=status], figure, a'))
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
  const showsAll = () => more.ariaPressed === 'true'
  const show = () => {
    const { entries, complete, keptAt } = history
    // A week before the first entry needs all entries.
    if (!complete && !showsAll() && monday < entries[0].date) return load(maxEntries)
    more.hidden = complete && !showsAll()
    const current = entryOf(lake, entries, viewDate)
    showValue(section.parentElement, current)
    if (entries.length > 0) drawChart(figure, entries, legend, monday, current)
    else state.textContent = words.common.never
    if (keptAt) state.textContent = fill(words.common.asOf, { date: date(keptAt), age: ageText(keptAt, Date.now()) })
  }
  const load = async (limit) => {
    const signal = request = AbortSignal.timeout(timeout)
    more.ariaPressed = String(limit === maxEntries)
    state.textContent = words.card.loading
    try {
      const loaded = await loadHistory(id, limit, signal)
      if (signal !== request) return
      history = loaded
      state.textContent = ''
      show()
    } catch {
      if (signal !== request) return
      history = null
      figure.querySelector('svg').replaceChildren()
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
  const show = (name, text) => { article.querySelector(`[data-entry=${name}]`).textContent = text }
  show('secchi', entry?.secchi_m === undefined ? '' : `${number(entry.secchi_m)} m`)
  show('temperature', entry?.water_temperature_c === undefined ? '' : `${number(entry.water_temperature_c)} °C`)
  if (entry?.below_limit) article.querySelector('[data-fact=chlorophyll]').textContent = valueText(entry)
}
