// The history of a lake as a picture: chlorophyll by time on a logarithmic axis, over the bands of the risk classes.
import { dayMs, startOf, weekOf } from './calendar.js'
import { svg } from './dom.js'
import { inWords, isBeyond, isReported } from './entry.js'
import { language, number, words } from './words.js'

const [width, height] = [300, 180] // of the picture, which scales with the card
const [left, top, right, bottom] = [30, 16, 246, 160] // of the field in which the values stand
const letters = 12 // high are those of its names
const leastDays = 56 // that the axis of time spans
const mostTicks = 5 // that it names
const steps = [1, 3, 6, 12, 24, 60, 120, 240, 1200] // months between them

/**
 * Draws `entries` (oldest first, at least one) into the figure of a card, and has the pointer, a finger and the keys tell of
 * each. It marks the week that the page shows, a date, and begins with the day of the value that the card tells of.
 */
export function drawChart(figure, entries, legend, shown, day) {
  const [tip, plot] = figure.children
  const [picture, range] = plot.children
  const week = weekOf(shown)
  const last = entries.at(-1).time
  const first = Math.min(entries[0].time, last - leastDays * dayMs)
  const x = (time) => left + 3 + (time - first) / (last - first) * (right - left - 6)
  const y = (chl) => {
    const part = Math.log(chl / legend.min) / Math.log(legend.max / legend.min)
    return bottom - Math.min(1, Math.max(0, part)) * (bottom - top)
  }
  const place = (e) => `${x(e.time).toFixed(1)} ${y(e.chl).toFixed(1)}`
  const cursor = path('cursor', '')
  picture.replaceChildren(...bands(legend, y), ...months(first, last, x), ...periods(entries, week, x), ...values(entries, legend, place), cursor)
  const select = (i) => {
    const e = entries[i]
    range.value = i
    range.ariaValueText = tip.textContent = inWords(e, legend)
    const ring = e.chl === null ? '' : `M${place(e)}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0`
    cursor.setAttribute('d', `M${x(e.time)} ${top}V${bottom}${ring}`)
  }
  range.max = entries.length - 1
  range.oninput = () => select(range.value)
  plot.onpointermove = plot.onpointerdown = ({ clientX }) => {
    const box = plot.getBoundingClientRect()
    const at = (clientX - box.left) / box.width * width
    const distance = (e) => Math.abs(x(e.time) - at)
    select(entries.reduce((best, e, i) => (distance(e) < distance(entries[best]) ? i : best), 0))
  }
  const at = entries.findLastIndex((e) => e.date === day && !e.forecast)
  select(Math.max(0, at < 0 ? entries.findLastIndex((e) => e.week <= week) : at)) // a week without a value tells of that
}

const path = (className, d) => svg('path', { class: className, d })
const text = (className, x, y, said) => {
  const e = svg('text', { class: className, x, y })
  e.append(said)
  return e
}
const box = (className, x1, y1, x2, y2) => path(className, `M${x1} ${y1}H${x2}V${y2}H${x1}z`)

// periods are that of the forecasts and the week shown, where it lies in the field.
function periods(entries, week, x) {
  const parts = []
  const forecast = entries.find((e) => e.forecast)
  if (forecast) parts.push(box('future', x(forecast.time), top, right, bottom))
  const [from, to] = [Math.max(left, x(startOf(week))), Math.min(right, x(startOf(week + 1)))]
  if (from < to) parts.push(box('week', from, top, to, bottom), path('sign', `M${(from + to) / 2 - 4} ${top - 10}h8v8h-8z`))
  return parts
}

// values makes the lines and dots. A line joins the values of one week and the next, and nothing across a week without.
function values(entries, legend, place) {
  const paths = { line: '', dashed: '', dots: '', 'sign reported': '', 'sign beyond': '' }
  let before = null
  for (const e of entries) {
    if (e.chl === null) {
      before = null
      continue
    }
    const here = place(e)
    const alone = !before || e.week - before.week > 1 || (before.forecast && !e.forecast)
    const start = before?.forecast === e.forecast ? '' : `M${before && place(before)}`
    paths[e.forecast ? 'dashed' : 'line'] += alone ? `M${here}h1` : `${start}L${here}`
    if (isReported(e, legend)) paths['sign reported'] += `M${here}m0-6l6 6l-6 6l-6-6z`
    else if (isBeyond(e, legend)) paths['sign beyond'] += `M${here}${e.chl > legend.max ? 'm0-3l4 7h-8z' : 'm0 3l4-7h-8z'}`
    else if (!e.forecast) paths.dots += `M${here}h0`
    before = e
  }
  return Object.entries(paths).filter(([, d]) => d).map(([name, d]) => path(name, d))
}

function bands({ classes, min, max }, y) {
  const tick = (value) => text('tick', left - 4, y(value) + 4, number(value))
  const ends = y(classes.at(-1).from) - top < letters ? [min] : [min, max] // a limit goes before the end of the axis
  return [...ends.map(tick), ...classes.flatMap(({ from, to, color, risk }) => {
    const [above, below] = [y(to ?? max), y(from ?? min)]
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
  const step = steps.find((s) => (counted(last) - counted(first)) / s <= mostTicks) ?? steps.at(-1)
  const parts = []
  for (let m = Math.floor(counted(first) / step) * step + step; m <= counted(last); m += step) {
    const time = Date.UTC(Math.floor(m / 12), m % 12)
    parts.push(path('limit', `M${x(time)} ${bottom}v4`), text('month', x(time), height - 4, m % 12 ? name.format(time) : m / 12))
  }
  return parts
}
