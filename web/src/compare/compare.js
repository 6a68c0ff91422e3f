// Compares up to eight lakes: one chart, and a table with the same in words. It is a script of its own, which loads when it is first needed.
import { ageText, isOld, now, startOfWeek, weekNumber } from '../calendar.js'
import { byId, element, svg } from '../dom.js'
import { describeLake } from '../laketext.js'
import { lazyScript } from '../lazyscript.js'
import { cleanText } from '../linetext.js'
import { isWide } from '../map.js'
import { date, fill, words } from '../words.js'
import css from './compare.css'
import { comparedLakes, maxLakes } from './lakes.js'
import { letters, lineOf, signAt, signed, spread } from './lines.js'

const timeout = 20_000 // ms
const maxHistories = 16
const wider = 330 // of the chart on a desk, in the units of the chart

/** @typedef {{id: string, name: string, region: string, entries: Entry[]}} Compared the entries are undefined if they could not be loaded */
/** @typedef {{box: HTMLElement, id: string, monday: string | undefined}} Card */

/** @type {Map<string, Promise<Compared>>} */
const histories = new Map() // by version of the data and id

const loadYears = lazyScript('years')

let started = false
let requests = 0
/** The lakes of the last chart, for their names. @type {Compared[]} */
let shown = []

/**
 * Shows the compared lakes in the section of a card. `tools` are functions, numbers and texts of the script of a card.
 * @param {Page} page @param {Card} card @param {any} tools
 */
export async function showCompare(page, card, tools) {
  if (!started) start(page)
  started = true
  const request = ++requests
  const ids = comparedLakes(page.view.get())
  page.view.set({ compare: ids.join() })
  const lakes = await Promise.all(ids.map((id) => load(id, page, tools)))
  if (request !== requests || card.box.hidden) return
  const added = ids.length > shown.length
  const dropped = lakes.length === maxLakes && shown.find(({ id }) => !ids.includes(id))
  shown = lakes
  draw(page, card, lakes, tools)
  if (added || dropped) card.box.scrollIntoView() // below the card
  if (dropped) card.box.querySelector('[role=status]').textContent = fill(tools.words.dropped, { n: maxLakes, name: dropped.name })
}

function start({ view }) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  // A lake whose card closes stays compared.
  view.on(['lake'], (state) => { if (state.compare !== null && state.lake === null) view.set({ compare: comparedLakes(state).join() }) })
}

/** @param {string} id @param {Page} page @param {any} tools @returns {Promise<Compared>} */
function load(id, { config, store }, { loadHistory, twoYears }) {
  const key = `${config.version} ${id}`
  if (histories.size >= maxHistories) histories.clear()
  if (!histories.has(key)) {
    histories.set(key, loadHistory(id, twoYears, AbortSignal.timeout(timeout)).then(
      ({ name, region, entries }) => ({ id, name: cleanText(name), region: cleanText(region ?? ''), entries }),
      () => {
        histories.delete(key) // the next time it is requested again
        return { id, name: store.get().byId.get(id)?.name ?? id, region: '', entries: undefined }
      },
    ))
  }
  return histories.get(key)
}

/** @param {Page} page @param {Card} card @param {Compared[]} lakes @param {any} tools */
function draw(page, { box, id, monday }, lakes, tools) {
  const { view } = page
  const text = tools.words
  const focused = document.activeElement
  const hadFocus = box.contains(focused)
  const end = weekNumber(monday)
  const button = (name, onclick, properties = {}) => element('button', { type: 'button', onclick, ...properties }, name)
  const remove = (other) => view.set({ compare: comparedLakes(view.get()).filter((one) => one !== other).join() || id })
  const rows = lakes.map((lake, i) => {
    const name = lake.id === id ? element('strong', {}, lake.name) : button(lake.name, () => view.set({ lake: lake.id }), { className: 'name' })
    const label = fill(text.remove, { name: lake.name })
    return element('tr', {},
      element('th', { scope: 'row' }, element('div', {}, sample(i), `${letters[i]} `, element('bdi', {}, name),
        ...lake.id === id ? [] : [button('×', () => remove(lake.id), { ariaLabel: label, title: label })])),
      element('td', {}, ...lastValue(lake, end, page, tools)))
  })
  box.replaceChildren(
    element('h3', {}, text.heading),
    picture(lakes, page.legend, tools),
    element('table', {},
      element('caption', {}, fill(text.caption, { date: date(startOfWeek(end + 1) - 1) })),
      element('thead', {}, element('tr', {}, ...[text.lake, text.value].map((name) => element('th', { scope: 'col' }, name)))),
      element('tbody', {}, ...rows)),
    element('p', { role: 'status' }, lakes.length > 1 ? '' : fill(text.hint, { n: maxLakes })),
    element('p', { className: 'row' },
      button(text.years, () => loadYears().then(({ overlay }) => overlay(box, tools, (split) => picture(lakes, page.legend, tools, split))), { ariaPressed: 'false' }),
      button(text.choose, () => {
        view.set({ lake: null })
        byId('q').focus()
      }),
      button(text.stop, () => {
        box.closest('article').focus({ preventScroll: true })
        shown = []
        view.set({ compare: null })
      })),
  )
  if (hadFocus) box.closest('article').focus({ preventScroll: true }) // the button is gone
}

// lastValue returns what the card of a lake says first: what an authority says, the risk, the value and its day. Of a lake that is not loaded it is
// the last value up to a week.
function lastValue({ id, entries }, end, { legend, store }, { riskOf, valueText }) {
  const day = (time) => [element('br'), `${date(time)} (${ageText(time, now())})`]
  const lake = store.get().byId.get(id)
  if (lake) return [describeLake(lake), ...lake.measured_at ? day(lake.measured_at) : []]
  if (!entries) return [words.common.failed]
  const last = entries.findLast((e) => e.week <= end && e.chl !== null && !e.forecast && e.quality !== 'poor')
  if (!last) return [words.common.noValue]
  const old = isOld(last.date, Math.min(now(), startOfWeek(end + 1) - 1)) ? `, ${fill(words.lake.old, { date: date(last.time) })}` : ''
  return [`${words.risk[riskOf(last, legend)]}, ${valueText(last)}${old}`, ...day(last.date)]
}

/** Draws the lines, with a letter at the end of each; `split` returns the parts of a line, the first of which is the newest. The table has the same in
 * words. @param {Compared[]} lakes @param {Legend} legend @param {any} tools @param {(line: Entry[]) => Entry[][]} [split] */
function picture(lakes, legend, { bands, months, path, text, bottom, chartScales, left, right, top, valuePaths, height, width }, split = (line) => [line]) {
  const lines = lakes.map(({ entries }) => split(lineOf(entries ?? [])))
  const all = lines.flat(2).sort((a, b) => a.time - b.time)
  if (all.length === 0) return ''
  const edge = right + (isWide() ? wider : 0)
  const scales = chartScales(all, legend, [], edge)
  const point = (e) => `${scales.x(e.time).toFixed(1)} ${scales.y(e.chl).toFixed(1)}`
  const drawn = lines.flatMap((parts, i) => parts.flatMap((entries, age) => [
    path(`line of-${i} age-${age}`, valuePaths(entries, scales).line), path(`sign of-${i} age-${age}`, signed(entries).map((e) => signAt(i, point(e))).join('')),
  ]))
  const ends = lines.map(([entries]) => entries?.at(-1))
  const heights = spread(ends.map((e) => (e ? scales.y(e.chl) : bottom) + 4), top, bottom)
  const names = ends.map((e, i) => (e ? text(`letter of-${i}`, edge + 6, heights[i], letters[i]) : ''))
  const image = svg('svg', { viewBox: `0 0 ${width + edge - right} ${height}`, 'aria-hidden': 'true' })
  image.append(...bands(legend, scales, left + 4), ...months(scales), ...drawn, ...names)
  return element('div', { className: 'plot' }, image)
}

// sample is a piece of line i, for the table.
function sample(i) {
  const image = svg('svg', { viewBox: '0 0 36 12', class: 'plot', 'aria-hidden': 'true' })
  for (const [name, d] of [['line', 'M1 6h34'], ['sign', signAt(i, '18 6')]]) image.append(svg('path', { class: `${name} of-${i}`, d }))
  return image
}
