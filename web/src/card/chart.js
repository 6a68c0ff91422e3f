// Draws the history of a lake: chlorophyll over time on a logarithmic axis, above the bands of the risk classes.
import { monthName, monthTicks, startOfWeek, weekNumber } from '../calendar.js'
import { element, svg } from '../dom.js'
import { number, words } from '../words.js'
import { bottom, chartScales, height, left, ownPaths, point, right, top, usualPath, valuePaths, valueTicks, width } from './chartgeometry.js'
import { describeEntry } from './entries.js'
import { cardWords } from './words.js'

/** Returns the figure that drawChart fills: a text about the selected entry, the chart, and its key, whose parts show what is drawn. */
export function createFigure() {
  const { chart, common } = words
  const parts = {
    week: chart.week, '': chart.gaps, dots: chart.satellite, sample: chart.sample, own: chart.own, dashed: chart.forecast, whisker: chart.uncertainty, poor: chart.poor,
    below: chart.below, reported: chart.reported, beyond: chart.offScale, usual: cardWords.season.key,
  }
  return element('figure', {},
    element('p', { className: 'tip', ariaHidden: 'true' }),
    element('label', { className: 'plot' }, svg('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' }), element('input', { type: 'range', ariaLabel: common.chlorophyll })),
    element('p', { className: 'key' }, ...Object.entries(parts).map(([name, content]) => element('span', { className: name && `of-${name}`, hidden: true }, content))))
}

/**
 * Draws entries into the figure of a card. Pointer, touch and keys select an entry, whose description is shown. The week of
 * the page is marked; the entry whose value the card shows is selected first, unless `selected` names another one.
 * @param {HTMLElement} figure
 * @param {Entry[]} entries oldest first, at least one
 * @param {Legend} legend
 * @param {{monday: string, current?: Entry, usual: {week: number, time: number, chl: number}[], selected?: number}} what
 */
export function drawChart(figure, entries, legend, { monday, current, usual, selected }) {
  const [tip, plot, key] = /** @type {any} */ (figure.children)
  const [picture, range] = plot.children
  const week = weekNumber(monday)
  const scales = chartScales(entries, legend, usual.map(({ chl }) => chl))
  const { x, y } = scales
  const cursor = path('cursor', '')
  const paths = { usual: usualPath(usual, scales), ...ownPaths(entries, scales), ...valuePaths(entries, scales) }
  const lines = Object.entries(paths).filter(([, d]) => d).map(([name, d]) => path(name, d))
  picture.replaceChildren(...bands(legend, scales), ...months(scales), ...periods(entries, week, scales), ...lines, cursor)
  for (const e of key.children) e.hidden = e.className && !picture.querySelector(e.className.replace('of-', '.'))
  const select = (i) => {
    const e = entries[i]
    range.value = i
    range.ariaValueText = tip.textContent = describeEntry(e, legend)
    const ring = e.chl === null ? '' : `M${point(e, scales)}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0`
    cursor.setAttribute('d', `M${x(e.time)} ${top}V${bottom}${ring}`)
  }
  range.max = entries.length - 1
  range.oninput = () => select(range.value)
  plot.onpointermove = plot.onpointerdown = ({ clientX, clientY }) => {
    const box = plot.getBoundingClientRect()
    const scale = width / box.width
    const [atX, atY] = [(clientX - box.left) * scale, (clientY - box.top) * scale]
    const distance = (e) => Math.abs(x(e.time) - atX) + (e.chl === null ? 0 : Math.abs(y(e.chl) - atY) / 1000) // of two on one day the nearer one
    select(entries.reduce((best, e, i) => (distance(e) < distance(entries[best]) ? i : best), 0))
  }
  select(selected ?? Math.max(0, current ? entries.indexOf(current) : entries.findLastIndex((e) => e.week <= week))) // in a week without a value, the entry of that week
}

/** Returns a path with a class. @param {string} className @param {string} d */
export const path = (className, d) => svg('path', { class: className, d })
/** Returns a text with a class. @param {string} className @param {number} x @param {number} y @param {string} content */
export const text = (className, x, y, content) => {
  const e = svg('text', { class: className, x, y })
  e.append(content)
  return e
}
const box = (className, x1, y1, x2, y2) => path(className, `M${x1} ${y1}H${x2}V${y2}H${x1}z`)

// periods draws the time of the forecasts and the week of the page. The time of limnomap's own forecast begins at the last measurement.
function periods(entries, week, { x, last, end }) {
  const parts = []
  const from = end ? last : entries.find((e) => e.forecast)?.time
  if (from) parts.push(box('future', x(from), top, right, bottom))
  if (end) parts.push(path('now', `M${x(last)} ${top}V${height}`), text('month', (x(last) + right) / 2, height - 4, words.chart.ahead))
  const [start, stop] = [Math.max(left, x(startOfWeek(week))), Math.min(end ? x(last) + 3 : right, x(startOfWeek(week + 1)))]
  if (start < stop) parts.push(box('week', start, top, stop, bottom), path('sign', `M${(start + stop) / 2 - 6} ${top - 8}h12v4h-12z`))
  return parts
}

/** Returns the bands of the classes, their names at `namesAt`, and the values that the axis names.
 * @param {Legend} legend @param {ReturnType<typeof chartScales>} scales */
export function bands(legend, scales, namesAt = right + 4) {
  const { classes } = legend
  const { min, max, edge, y } = scales
  return [...classes.flatMap(({ from, to, color, risk }) => {
    const [y1, y2] = [y(to ?? max), y(from ?? min)]
    const band = box('band', left, y1, edge, y2)
    band.style.fill = color
    const name = text('', namesAt, (y1 + y2) / 2 + 4, words.riskShort[risk])
    return to === null ? [band, name] : [band, name, path('limit', `M${left} ${y1}H${edge}`)]
  }), ...valueTicks(legend, scales).map((value) => text('tick', left - 4, y(value) + 4, number(value)))]
}

/** Returns the names below the time axis: months, and the year for January. @param {ReturnType<typeof chartScales>} scales */
export function months({ first, last, end, x }) {
  return monthTicks(first, last).flatMap(([year, month]) => {
    const time = Date.UTC(year, month)
    if (end && x(last) - x(time) < 14) return [] // it would touch the name of the future
    return [path('limit', `M${x(time)} ${bottom}v4`), text('month', x(time), height - 4, monthName(year, month))]
  })
}
