// The geometry of the history chart: scales, ticks and paths in the coordinates of its SVG. It draws nothing.
import { dayMs } from '../calendar.js'
import { worse } from '../classify.js'
import { hasRange, isOffScale, lowerEnd, lowestDrawn } from './entries.js'

/** The size of the SVG, which scales with the card. */
export const [width, height] = [300, 180]
/** The edges of the plot area. */
export const [left, top, right, bottom] = [30, 16, 246, 160]

const minSpan = 56 * dayMs // of the time axis
const futureWidth = 72 // of limnomap's own forecast, whose four weeks would be too narrow beside two years
const labelHeight = 12
const roundNumbers = [-1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((n) => Number(`${n}e${power}`))) // up to 5000 µg/l

/**
 * Returns the functions x(time) and y(chl), the latter logarithmic, and the ranges of both axes. With limnomap's own forecast
 * the time after the last measurement, `last`, is stretched and ends at `end`, which is otherwise undefined.
 * @param {Entry[]} entries oldest first, at least one
 * @param {Pick<Legend, 'min' | 'max'>} legend
 * @param {number[]} [others] values that the chart shows besides
 * @param {number} [edge] of the plot area on the right
 */
export function chartScales(entries, legend, others = [], edge = right) {
  const end = entries.some((e) => e.issued_at) ? entries.at(-1).time : undefined
  const last = ((end && entries.findLast((e) => !e.forecast)) ?? entries.at(-1)).time
  const first = Math.min(entries[0].time, last - minSpan)
  const now = edge - 3 - (end ? futureWidth : 0)
  const { min, max } = valueRange([...entries.flatMap((e) => [e.chl, e.chl_upper]), ...others], legend)
  return {
    first,
    last,
    end,
    min,
    max,
    edge,
    /** @param {number} time */
    x: (time) => (time > last ? now + (time - last) / (end - last) * futureWidth : left + 3 + (time - first) / (last - first) * (now - left - 3)),
    /** @param {number} chl */
    y: (chl) => bottom - Math.min(1, Math.max(0, Math.log(chl / min) / Math.log(max / min))) * (bottom - top),
  }
}

/**
 * Returns the ends of the value axis: those of the legend, so that the charts of most lakes can be compared, or round numbers beyond
 * them if values lie there. A logarithmic axis has no zero: it ends at the lowest value that is drawn.
 * @param {(number | null | undefined)[]} values @param {Pick<Legend, 'min' | 'max'>} legend
 */
export function valueRange(values, { min, max }) {
  const known = values.filter((v) => v >= lowestDrawn)
  const [lowest, highest] = [known.reduce((a, b) => Math.min(a, b), min), known.reduce((a, b) => Math.max(a, b), max)]
  return { min: lowest < min ? roundNumbers.findLast((n) => n <= lowest) : min, max: highest > max ? roundNumbers.find((n) => n >= highest) ?? highest : max }
}

/**
 * Returns the values that the axis names: the limits of the classes, its ends, and powers of ten, as far as there is room.
 * @param {Pick<Legend, 'classes'>} legend @param {{min: number, max: number, y: (chl: number) => number}} scales
 */
export function valueTicks({ classes }, { min, max, y }) {
  const ticks = classes.map(({ to }) => to).filter((to) => to !== null)
  for (const value of [min, max, 100, 1000, 1]) {
    if (value >= min && value <= max && ticks.every((tick) => Math.abs(y(tick) - y(value)) >= labelHeight)) ticks.push(value)
  }
  return ticks
}

/** Returns the coordinates of an entry as a path has them.
 * @param {Entry} e @param {{x: (time: number) => number, y: (chl: number) => number}} scales */
export const point = (e, { x, y }) => `${x(e.time).toFixed(1)} ${y(e.chl).toFixed(1)}`

/**
 * Returns the paths of lines, points and signs, by class name. A line joins values of consecutive weeks, but no samples; it has a gap at a
 * week without a value. A vertical line shows the uncertainty of a value.
 * @param {Entry[]} entries @param {{x: (time: number) => number, y: (chl: number) => number}} scales
 */
export function valuePaths(entries, scales) {
  const paths = {
    line: '', dashed: '', whisker: '', dots: '', 'dots poor': '', sample: '', 'sample poor': '', below: '', 'sign reported': '', 'sign beyond': '',
  }
  let before = null
  for (const e of entries) {
    if (e.issued_at) continue // drawn by ownPaths
    if (e.chl === null) {
      if (!e.sample) before = null
      continue
    }
    const at = point(e, scales)
    if (!e.sample) {
      const isolated = !before || e.week - before.week > 1 || (before.forecast && !e.forecast)
      const start = before?.forecast === e.forecast ? '' : `M${before && point(before, scales)}`
      paths[e.forecast ? 'dashed' : 'line'] += isolated ? `M${at}h1` : `${start}L${at}`
      before = e
    }
    if (hasRange(e)) paths.whisker += whisker(e, scales)
    if (e.below_limit) paths.below += `M${at}m-5-4l-6 4l6 4`
    const poor = e.quality === 'poor' ? ' poor' : ''
    const sign = worse(e) ? 'reported' : isOffScale(e) ? 'beyond' : ''
    if (e.sample) paths[`sample${poor}`] += `M${at}m-3.5-3.5h7v7h-7z`
    else if (!e.forecast && !sign) paths[`dots${poor}`] += poor ? `M${at}m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0` : `M${at}h0`
    // The sign of a sample lies above its square.
    if (sign) paths[`sign ${sign}`] += `M${at}m0-${e.sample ? 10 : 0}${sign === 'reported' ? 'm0-6l6 6l-6 6l-6-6z' : 'm0 3l4-7h-8z'}`
  }
  return paths
}

/**
 * Returns the path of what was usual in the weeks of a year, within the time of the entries. It has gaps as a line of values.
 * @param {{week: number, time: number, chl: number}[]} usual @param {ReturnType<typeof chartScales>} scales
 */
export function usualPath(usual, { first, last, x, y }) {
  const shown = usual.filter(({ time }) => time >= first && time <= last)
  return shown.map(({ week, time, chl }, i) => {
    const at = `${x(time).toFixed(1)} ${y(chl).toFixed(1)}`
    return shown[i - 1]?.week === week - 1 ? `L${at}` : `M${at}h1`
  }).join('')
}

/**
 * Returns the paths of limnomap's own forecast, by class name: the band between its bounds, the line, and rings at its days. Band and line
 * begin at the value of the week before, if there is one.
 * @param {Entry[]} entries @param {{x: (time: number) => number, y: (chl: number) => number}} scales
 */
export function ownPaths(entries, scales) {
  const own = entries.filter((e) => e.issued_at)
  if (own.length === 0) return {}
  const before = entries.findLast((e) => e.chl !== null && !e.forecast && !e.sample)
  const start = own[0].week - before?.week === 1 ? [point(before, scales)] : []
  const through = (name) => [...start, ...own.map((e) => point({ ...e, chl: e[name] }, scales))]
  return {
    fan: `M${[...through('chl_lower'), ...through('chl_upper').reverse()].join('L')}z`,
    own: `M${through('chl').join('L')}`,
    steps: through('chl').slice(start.length).map((at) => `M${at}m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0`).join(''),
  }
}

// whisker draws the uncertainty of an entry: a vertical line with two ends.
function whisker(e, { x, y }) {
  const [at, low, high] = [x(e.time), y(lowerEnd(e)), y(e.chl_upper)].map((n) => n.toFixed(1))
  return `M${at} ${low}V${high}m-2.5 0h5M${at} ${low}m-2.5 0h5`
}
