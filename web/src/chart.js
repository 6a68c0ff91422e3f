// The history of a lake as a picture: chlorophyll by time on a logarithmic axis, over the bands of the risk classes.
import { element } from './dom.js'
import { startOf, weekOf } from './history.js'
import { concentration, count, date, fill, language, number, words } from './words.js'

const height = 200
const margin = { left: 32, right: 50, top: 16, bottom: 20 }
const leastTick = 40 // px between two names on the axis of time
const steps = [1, 3, 6, 12, 24, 60, 120, 240, 600] // months between them

/**
 * A chart of `entries` (oldest first, at least one), whose points the pointer, a finger and the keys tell of. `mark` gives
 * it the week that the page shows, as a date, and the day of the value that the card tells of.
 */
export function chart(entries, legend) {
  const tip = element('p', { className: 'tip', ariaHidden: 'true' })
  const range = element('input', { type: 'range', max: entries.length - 1, ariaLabel: words.chart.points })
  const key = element('p', { className: 'key' })
  const plot = element('div', { className: 'plot' }, range)
  let [at, shown, picture] = [entries.length - 1, null, null]
  const select = (i) => {
    at = i
    range.value = i
    range.ariaValueText = tip.textContent = inWords(entries[i], legend)
    picture?.point(entries[i])
  }
  const redraw = () => {
    if (plot.clientWidth < margin.left + margin.right) return
    picture?.svg.remove()
    picture = draw(entries, legend, shown, plot.clientWidth)
    plot.prepend(picture.svg)
    key.textContent = [...picture.used].map((name) => words.chart[name]).join(' · ')
    select(at)
  }
  new ResizeObserver(redraw).observe(plot)
  range.addEventListener('input', () => select(Number(range.value)))
  const follow = ({ clientX }) => select(picture.nearest(clientX - plot.getBoundingClientRect().left))
  plot.addEventListener('pointermove', follow)
  plot.addEventListener('pointerdown', (e) => {
    follow(e)
    range.focus({ preventScroll: true })
    e.preventDefault() // which would take the focus away again
  })
  const mark = (week, day) => {
    shown = weekOf(week)
    const i = entries.findLastIndex((e) => e.date === day && !e.forecast)
    select(i < 0 ? at : i)
    redraw()
  }
  return { box: element('figure', {}, tip, plot, key), mark }
}

/** What there is to be said of an entry: its value and its risk, and that nobody has measured a forecast. */
export function inWords(e, legend) {
  const said = [e.chl === null ? words.chart.none : concentration(e.chl)]
  const risk = riskOf(e, legend)
  if (risk) said.push(words.risk[risk])
  if (reported(e, legend)) said.push(words.lake.reported)
  if (e.forecast) said.push(words.chart.forecastOf)
  if (beyond(e, legend)) said.push(words.chart.beyondOf)
  return `${date(e.time)}: ${said.join(', ')}`
}

/** The risk of an entry: of its value or as it was reported, whichever is worse; null where there is neither. */
export function riskOf(e, legend) {
  const level = Math.max(levelByValue(e, legend), e.who_level ?? -1)
  return level < 0 ? null : (legend.classes.find((c) => c.level === level) ?? legend.classes.at(-1)).risk
}

// levelByValue knows by the colours whether a limit belongs to the class above it.
function levelByValue({ chl }, { classes, steps: colours }) {
  const reaches = ({ from }) => from === null || chl > from || (chl === from && colours.some((s) => s.from === from))
  return chl === null ? -1 : classes.findLast(reaches).level
}

const reported = (e, legend) => e.who_level !== null && e.who_level > levelByValue(e, legend)

const beyond = ({ chl }, { min, max }) => chl !== null && (chl < min || chl > max)

function svg(name, attributes, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  e.append(...children)
  return e
}

// draw also tells which of its signs are to be explained.
function draw(entries, legend, shown, width) {
  const [right, bottom] = [width - margin.right, height - margin.bottom]
  const first = entries[0].time
  const span = Math.max(entries.at(-1).time - first, 1)
  const x = (time) => margin.left + 3 + (time - first) / span * (right - margin.left - 6)
  const y = (chl) => {
    const part = Math.log(chl / legend.min) / Math.log(legend.max / legend.min)
    return bottom - Math.min(1, Math.max(0, part)) * (bottom - margin.top)
  }
  const place = (e) => `${x(e.time).toFixed(1)} ${y(e.chl).toFixed(1)}`
  const { used, ...paths } = signs(entries, legend, place)
  const cursor = svg('path', { class: 'cursor' })
  const picture = svg('svg', { width, height, role: 'img', 'aria-label': summary(entries, legend) })
  picture.append(...bands(legend, y, right, bottom), ...months(entries, x, bottom))
  if (shown !== null && shown >= entries[0].week && startOf(shown) <= entries.at(-1).time) {
    const [a, b] = [Math.max(margin.left, x(startOf(shown))), Math.min(right, x(startOf(shown + 1)))]
    const middle = (a + b) / 2
    picture.append(svg('rect', { class: 'week', x: a, y: margin.top, width: Math.max(2, b - a), height: bottom - margin.top }))
    picture.append(svg('path', { class: 'sign', d: `M${middle} ${margin.top}l-5-8h10z` }))
    used.add('week')
  }
  for (const [name, d] of Object.entries(paths)) picture.append(svg('path', { class: name, d }))
  picture.append(cursor)
  const point = (e) => {
    const at = x(e.time).toFixed(1)
    const dot = e.chl === null ? '' : `M${place(e)}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0`
    cursor.setAttribute('d', `M${at} ${margin.top}V${bottom}${dot}`)
  }
  const nearest = (px) => entries.reduce((best, e, i) => (Math.abs(x(e.time) - px) < Math.abs(x(entries[best].time) - px) ? i : best), 0)
  return { svg: picture, point, nearest, used }
}

// signs makes the lines and the dots. A line joins values of one week and the next, and nothing across a week without one.
function signs(entries, legend, place) {
  const paths = { line: '', dashed: '', dots: '', hollow: '', sign: '' }
  const used = new Set()
  let before = null
  for (const e of entries) {
    const joined = before && e.week - before.week <= 1 && (e.forecast || !before.forecast)
    if (e.chl === null) {
      before = null
      used.add('gaps')
      continue
    }
    if (before && e.week - before.week > 1) used.add('gaps')
    const path = e.forecast ? 'dashed' : 'line'
    if (e.forecast) used.add('forecast')
    paths[path] += !joined ? `M${place(e)}` : before.forecast === e.forecast ? `L${place(e)}` : `M${place(before)}L${place(e)}`
    if (reported(e, legend)) {
      paths.sign += `M${place(e)}m0-6l6 6l-6 6l-6-6z`
      used.add('reported')
    } else if (beyond(e, legend)) {
      paths.sign += `M${place(e)}${e.chl > legend.max ? 'm0-3l4 7h-8z' : 'm0 3l4-7h-8z'}`
      used.add('beyond')
    } else paths[e.forecast ? 'hollow' : 'dots'] += `M${place(e)}h0`
    before = e
  }
  return { ...paths, used }
}

function bands({ classes, min, max }, y, right, bottom) {
  const parts = []
  const tick = (value) => parts.push(svg('text', { x: margin.left - 4, y: y(value) + 4, 'text-anchor': 'end' }, number(value)))
  for (const c of classes) {
    const [top, foot] = [c.to === null ? margin.top : y(c.to), c.from === null ? bottom : y(c.from)]
    parts.push(svg('rect', { class: 'band', x: margin.left, y: top, width: right - margin.left, height: foot - top, fill: c.color }))
    parts.push(svg('text', { x: right + 4, y: (top + foot) / 2 + 4 }, words.riskShort[c.risk]))
    if (c.to !== null) tick(c.to)
    if (c.to !== null) parts.push(svg('path', { class: 'limit', d: `M${margin.left} ${top}H${right}` }))
  }
  tick(min)
  tick(max)
  return parts
}

// months names as many months as there is room for, and January by its year.
function months(entries, x, bottom) {
  const month = new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' })
  const [first, last] = [entries[0], entries.at(-1)].map(({ time }) => new Date(time))
  const total = (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth()
  const step = steps.find((s) => (x(last) - x(first)) * s >= total * leastTick) ?? steps.at(-1)
  const parts = []
  for (let m = first.getUTCFullYear() * 12 + first.getUTCMonth() + 1; m <= last.getUTCFullYear() * 12 + last.getUTCMonth(); m++) {
    if (m % step !== 0) continue
    const time = Date.UTC(Math.floor(m / 12), m % 12)
    parts.push(svg('path', { class: 'limit', d: `M${x(time)} ${bottom}v4` }))
    parts.push(svg('text', { x: x(time), y: bottom + 16, 'text-anchor': 'middle' }, m % 12 === 0 ? `${m / 12}` : month.format(time)))
  }
  return parts
}

// summary is the picture in one sentence, for who cannot see it.
function summary(entries, legend) {
  const measured = entries.filter((e) => e.chl !== null && !e.forecast)
  const high = measured.filter((e) => riskOf(e, legend) === 'high').length
  return fill(words.chart.summary, {
    from: date(entries[0].time), to: date(entries.at(-1).time), n: count(words.chart.values, measured.length), high: number(high),
  })
}
