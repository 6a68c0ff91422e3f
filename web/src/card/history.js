// The history on a card: a chart and links to the values.
import { ageText, weekNumber } from '../calendar.js'
import { element } from '../dom.js'
import { cleanText } from '../linetext.js'
import { retryButton } from '../message.js'
import { date, fill, words } from '../words.js'
import { createFigure, drawChart } from './chart.js'
import { entryOf, historyURL, isolated, loadEarlier, loadHistory, maxEntries, twoYears } from './entries.js'
import { forecastLines } from './forecast.js'
import { showInside } from './inside.js'
import { certainty, originOf } from './origin.js'
import { seasonText, usualValues } from './season.js'
import { cardWords } from './words.js'

const timeout = 20_000 // ms

/**
 * Fills the history section of a card, and what only the history knows about the card's value. The function that it returns takes the
 * Monday of the week shown, the lake, and the date of the view, which is null for the newest week.
 * @param {HTMLElement} section @param {string} id @param {Legend} legend @param {(region: string) => void} showRegion
 */
export function cardHistory(section, id, legend, showRegion) {
  const state = /** @type {HTMLElement} */ (section.firstElementChild)
  const more = element('button', { type: 'button', name: 'more', ariaPressed: 'false', hidden: true }, words.card.more)
  const figure = createFigure()
  const season = element('p', { className: 'season' })
  const ahead = element('div', { className: 'ahead' })
  const inside = element('figure', { className: 'inside', hidden: true })
  const link = (form, href) => element('a', { href }, element('span', {}, words.card.history), ` (${form})`)
  state.before(element('div', { className: 'row' }, element('h3', {}, words.card.history), more))
  section.parentElement.querySelector('details').before(inside) // near the verdict: a part of the lake may be worse than that
  section.append(figure, season, ahead, element('p', { className: 'row links' }, link('JSON', historyURL(id)), link('CSV', `${historyURL(id)}.csv`)))
  /** @type {AbortSignal | undefined} */
  let request
  /** @type {Awaited<ReturnType<typeof loadHistory>> | null} */
  let history = null
  /** @type {Entry[]} */
  let earlier = [] // than those of the chart
  let monday = ''
  /** @type {Lake} */
  let lake
  /** @type {string | null} */
  let viewDate
  const showCurrent = () => {
    const current = history && entryOf(lake, history.entries, viewDate)
    // A gap by ice or possible scum may be newer than the value.
    const latest = history?.entries.findLast((e) => !e.forecast && e.quality !== 'poor' && (viewDate === null || e.week <= weekNumber(viewDate)))
    showValue(section.parentElement, current, latest)
    showInside(inside, id, current, history?.water, viewDate === null)
    return current
  }
  const showsAll = () => more.ariaPressed === 'true'
  const show = (/** @type {number | undefined} */ selected = undefined) => {
    const { entries, complete, keptAt } = history
    figure.hidden = false
    // A week before the first entry needs all entries.
    if (!complete && !showsAll() && monday < entries[0].date) return load(maxEntries)
    more.hidden = complete && !showsAll()
    const current = showCurrent()
    const all = [...earlier, ...entries]
    if (entries.length > 0) drawChart(figure, entries, legend, { monday, current, usual: usualValues(all, weekNumber(monday)), selected })
    else state.textContent = words.common.never
    season.textContent = seasonText(all, current)
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
      earlier = []
      showRegion(cleanText(loaded.region ?? ''))
      state.textContent = ''
      show()
      if (signal === request && !loaded.complete && limit !== maxEntries) addEarlier(loaded.entries[0], signal)
    } catch {
      if (signal !== request) return
      history = null
      showCurrent()
      season.textContent = ''
      figure.hidden = true
      ahead.replaceChildren()
      state.replaceChildren(...retryButton(() => load(limit)))
    }
  }
  // addEarlier loads the years before the chart, for what is usual. The chart does not wait for them, and needs them not.
  const addEarlier = async (oldest, signal) => {
    const entries = await loadEarlier(id, oldest, signal).catch(() => [])
    if (signal !== request || entries.length === 0) return
    earlier = entries
    show(Number(figure.querySelector('input').value))
  }
  more.onclick = () => load(showsAll() ? twoYears : maxEntries)
  return (/** @type {string} */ newMonday, /** @type {Lake} */ newLake, /** @type {string | null} */ newDate) => {
    monday = newMonday
    lake = newLake
    viewDate = newDate
    if (!request) return load(twoYears)
    if (history && lake.chl !== null && lake.measured_at.slice(0, 10) > history.newest) load(showsAll() ? maxEntries : twoYears) // a newer value has come
    else if (history) show()
  }
}

// showValue completes the value on the card.
function showValue(article, entry, latest) {
  for (const [name, text] of Object.entries(originOf(entry, latest))) article.querySelector(`[data-entry=${name}]`).textContent = text
  const value = certainty(entry)
  if (value) article.querySelector('[data-fact=chlorophyll]').textContent = value
  showSource(article.querySelector('[data-fact=age]'), entry?.source)
}

// showSource adds the source to the line with the date of the value.
function showSource(line, source) {
  line.querySelector('.source')?.remove()
  if (source) line.append(element('span', { className: 'source' }, `; ${fill(cardWords.card.source, { source: isolated(source) })}`))
}
