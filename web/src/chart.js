// The history of a lake as a picture: chlorophyll by time on a logarithmic axis, over the bands of the risk classes.
import { element, svg } from './dom.js'
import { inWords, isBeyond, isReported } from './entry.js'
import { dayMs, startOf, weekOf } from './history.js'
import { language, number, words } from './words.js'

const height = 200
const [left, top, bottom] = [32, 16, 180] // of the field in which the values stand
const beside = 56 // px at its right, for the names of the bands
const leastDays = 56 // that the axis of time spans
const leastTick = 40 // px between two names on the axis of time
const steps = [1, 3, 6, 12, 24, 60, 120, 240, 600] // months between them

/**
 * A chart of `entries` (oldest first, at least one), whose points the pointer, a finger and the keys tell of. `mark` gives
 * it the week that the page shows, as a date, and the day of the value that the card tells of.
 */
export function chart(entries, legend) {
  const tip = element('p', { className: 'tip', ariaHidden: 'true' }) // the range says the same
  const range = element('input', { type: 'range', max: entries.length - 1, ariaLabel: words.common.chlorophyll })
  const key = element('p', { className: 'key' })
  const plot = element('div', { className: 'plot' }, range)
  let [at, week, picture] = [entries.length - 1, null, null]
  const select = (i) => {
    range.value = at = i
    range.ariaValueText = tip.textContent = inWords(entries[i], legend)
    picture?.point(entries[i])
  }
  const redraw = () => {
    const width = plot.clientWidth
    if (width <= left + beside) return // hidden
    picture?.drawing.remove()
    picture = draw(entries, legend, week, width)
    plot.prepend(picture.drawing)
    key.textContent = [...picture.used].map((name) => words.chart[name]).join(' · ')
    select(at)
  }
  const follow = ({ clientX }) => {
    const distance = (e) => Math.abs(picture.x(e.time) - clientX + plot.getBoundingClientRect().left)
    select(entries.reduce((best, e, i) => (distance(e) < distance(entries[best]) ? i : best), 0))
  }
  new ResizeObserver(redraw).observe(plot)
  range.oninput = () => select(Number(range.value))
  plot.onpointermove = follow
  plot.onpointerdown = (e) => {
    follow(e)
    range.focus({ preventScroll: true })
    e.preventDefault() // which would take the focus away again
  }
  const mark = (shown, day) => {
    week = weekOf(shown)
    at = entries.findLastIndex((e) => e.date === day && !e.forecast)
    if (at < 0) at = Math.max(0, entries.findLastIndex((e) => e.week <= week)) // a week without a value tells of that
    select(at)
    redraw()
  }
  return { box: element('figure', {}, tip, plot, key), mark }
}

const path = (className, d) => svg('path', { class: className, d })
const text = (className, x, y, said) => {
  const e = svg('text', { class: className, x, y })
  e.append(said)
  return e
}
const box = (className, x1, y1, x2, y2) => path(className, `M${x1} ${y1}H${x2}V${y2}H${x1}z`)

// draw also tells which of its signs are to be explained.
function draw(entries, legend, week, width) {
  const right = width - beside
  const last = entries.at(-1).time
  const first = Math.min(entries[0].time, last - leastDays * dayMs)
  const x = (time) => left + 3 + (time - first) / (last - first) * (right - left - 6)
  const y = (chl) => {
    const part = Math.log(chl / legend.min) / Math.log(legend.max / legend.min)
    return bottom - Math.min(1, Math.max(0, part)) * (bottom - top)
  }
  const place = (e) => `${x(e.time).toFixed(1)} ${y(e.chl).toFixed(1)}`
  const used = new Set()
  const parts = [...bands(legend, y, right), ...months(first, last, x)]
  const forecast = entries.find((e) => e.forecast)
  if (forecast) parts.push(box('future', x(forecast.time), top, right, bottom))
  const [from, to] = [Math.max(left, x(startOf(week))), Math.min(right, x(startOf(week + 1)))]
  if (from < to) {
    parts.push(box('week', from, top, to, bottom), path('sign', `M${(from + to) / 2 - 4} ${top - 10}h8v8h-8z`))
    used.add('week')
  }
  const cursor = path('cursor', '')
  const point = (e) => cursor.setAttribute('d',
    `M${x(e.time)} ${top}V${bottom}${e.chl === null ? '' : `M${place(e)}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0`}`)
  const drawing = svg('svg', { width, height, 'aria-hidden': true })
  drawing.append(...parts, ...values(entries, legend, place, used), cursor)
  return { drawing, x, point, used }
}

// values makes the lines and dots. A line joins the values of one week and the next, and nothing across a week without.
function values(entries, legend, place, used) {
  const paths = { line: '', dashed: '', dots: '', sign: '' }
  let before = null
  for (const e of entries) {
    const missed = before && e.week - before.week > 1
    if (missed || e.chl === null) {
      before = null
      used.add('gaps')
    }
    if (e.chl === null) continue
    const kind = e.forecast ? 'dashed' : 'line'
    const here = place(e)
    if (!before || (before.forecast && !e.forecast)) paths[kind] += `M${here}h1`
    else paths[kind] += `${before.forecast === e.forecast ? '' : `M${place(before)}`}L${here}`
    if (e.forecast) used.add('forecast')
    const sign = isReported(e, legend) ? 'reported' : isBeyond(e, legend) && 'beyond'
    if (sign) {
      paths.sign += `M${here}${sign === 'reported' ? 'm0-6l6 6l-6 6l-6-6z' : e.chl > legend.max ? 'm0-3l4 7h-8z' : 'm0 3l4-7h-8z'}`
      used.add(sign)
    } else if (!e.forecast) paths.dots += `M${here}h0`
    before = e
  }
  return Object.entries(paths).map(([name, d]) => path(name, d))
}

function bands({ classes, min, max }, y, right) {
  const tick = (value) => text('tick', left - 4, y(value) + 4, number(value))
  return [tick(min), tick(max), ...classes.flatMap(({ from, to, color, risk }) => {
    const [above, below] = [to === null ? top : y(to), from === null ? bottom : y(from)]
    const band = box('band', left, above, right, below)
    band.style.fill = color
    const limit = to === null ? [] : [tick(to), path('limit', `M${left} ${above}H${right}`)]
    return [band, text('', right + 4, (above + below) / 2 + 4, words.riskShort[risk]), ...limit]
  })]
}

// months names as many months as there is room for, and January by its year.
function months(first, last, x) {
  const name = new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' })
  const counted = (time) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth()
  const total = counted(last) - counted(first)
  const step = steps.find((s) => (x(last) - x(first)) * s >= total * leastTick) ?? steps.at(-1)
  const parts = []
  for (let m = Math.floor(counted(first) / step) * step + step; m <= counted(last); m += step) {
    const time = Date.UTC(Math.floor(m / 12), m % 12)
    parts.push(path('limit', `M${x(time)} ${bottom}v4`), text('month', x(time), height - 4, m % 12 ? name.format(time) : `${m / 12}`))
  }
  return parts
}
