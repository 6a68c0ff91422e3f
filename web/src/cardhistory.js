// The history on a card: a chart and links to the values.
import { ageText } from './calendar.js'
import { drawChart } from './chart.js'
import { element, focusInPlace } from './dom.js'
import { historyURL, loadHistory, maxEntries, twoYears } from './history.js'
import { date, fill, words } from './words.js'

const timeout = 20_000 // ms

/**
 * Fills the history section of a card. The function that it returns takes the week of the page and the day of the value on
 * the card.
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
  /** @type {[string, string | null]} */
  let marked
  const showsAll = () => more.ariaPressed === 'true'
  const show = () => {
    const { entries, complete, keptAt } = history
    // A week before the first entry needs all entries.
    if (!complete && !showsAll() && marked[0] < entries[0].date) return load(maxEntries)
    more.hidden = complete && !showsAll()
    if (entries.length > 0) drawChart(figure, entries, legend, ...marked)
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
  return (/** @type {string} */ week, /** @type {string | null} */ day) => {
    marked = [week, day]
    if (!request) load(twoYears)
    else if (history && day > history.newest) load(showsAll() ? maxEntries : twoYears) // a newer value has come
    else if (history) show()
  }
}

/** Returns an error message and a button to try again. The card keeps the focus when the button disappears.
 * @param {() => void} retry */
export const retryButton = (retry) => {
  const onclick = ({ target }) => {
    focusInPlace(target.closest('article'))
    retry()
  }
  return [`${words.common.failed} `, element('button', { type: 'button', onclick }, words.common.tryAgain)]
}
