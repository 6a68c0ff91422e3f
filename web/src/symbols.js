// The symbol of a lake: what its marker, the list, its card and the legend show. Colour, shape and sign tell the risk,
// each without the others: a disc with a wave, a triangle with an exclamation mark, a square on its tip with a cross,
// and a grey ring with a question mark for no value. None promises safety: a satellite does not know that.
import { svg } from './dom.js'

const noData = '#9aa0a6' // the one grey, and it stands for no data

// Paths about the middle, in tenths of the radius: how far a shape reaches follows from its area, so that they weigh
// alike. The sign is a stroke, which no font can lack.
const marks = {
  low: { body: 'M-8.6 0a8.6 8.6 0 1 0 17.2 0a8.6 8.6 0 1 0-17.2 0z', sign: 'M-4.8.4C-3.2-2.6-1.6-2.6 0 0S3.2 2.6 4.8-.4' },
  medium: { body: 'M0-10.6L10.8 7.8H-10.8z', sign: 'M0-4.6V1.2M0 4.7v.01' },
  high: { body: 'M0-11.4L11.4 0L0 11.4L-11.4 0z', sign: 'M-3.5-3.5L3.5 3.5M3.5-3.5L-3.5 3.5' },
  none: { body: 'M-8 0a8 8 0 1 0 16 0a8 8 0 1 0-16 0z', sign: 'M-2.3-2.2A2.3 2.3 0 1 1 1.4-.3C.3.3 0 .7 0 1.5M0 4.2v.01' },
}

const night = window.matchMedia('(prefers-color-scheme: dark)')

/** The mark of a lake: low, medium or high as it is shown, none without a value, whatever its risk was then. */
export const markOf = (lake) => (lake.chl !== null && marks[lake.shown.risk] ? lake.shown.risk : 'none')

/**
 * The symbol of a lake as an inline SVG, 1.25 em wide, beside text that says the same. It takes {chl, shown, old}:
 * anything that has them can have a symbol.
 */
export function symbol(lake) {
  const mark = markOf(lake)
  const { body, sign } = marks[mark]
  const s = svg('svg', { class: `symbol ${mark}${isOld(lake) ? ' old' : ''}`, viewBox: '-13 -13 26 26', 'aria-hidden': 'true' })
  const colour = colourOf(lake)
  s.style.setProperty('--colour', colour)
  s.style.setProperty('--sign', signOn(isOld(lake) ? 'pale' : colour))
  s.append(svg('path', { class: 'body', d: body }), svg('path', { class: 'sign', d: sign }))
  return s
}

// Without a value all is old; the ring says that already.
const isOld = (lake) => Boolean(lake.old) && markOf(lake) !== 'none'

const colourOf = (lake) => (markOf(lake) === 'none' ? noData : lake.shown.color)

// signOn is what can be read on a colour: white on dark ones, ink on light ones; on a paled one as on the paper.
function signOn(colour) {
  if (colour === 'pale') return 'var(--ink)'
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.18 ? '#fff' : '#1d2328'
}

/** What the canvas is drawn with, by day and by night: the same as the variables of the style sheet. */
export const inks = () => (night.matches
  ? { paper: '#1b2025', ink: '#e8ecef', edge: '#e8ecef', ring: '#a5afb8' }
  : { paper: '#ffffff', ink: '#1d2328', edge: '#1d2328', ring: '#5a636b' })

const paths = new Map() // by their text: they are few

function path(d) {
  if (!paths.has(d)) paths.set(d, new Path2D(d))
  return paths.get(d)
}

const leastSigned = 6 // px: in a smaller symbol its sign would be a blot,
const leastDashed = 4 // and dashes would take its shape

/** Draws the symbol of a lake about a point of a canvas, with a radius in its units. */
export function drawSymbol(ctx, x, y, r, lake) {
  const mark = markOf(lake)
  const { paper, ink, edge, ring } = inks()
  const unit = 10 / r // what is one pixel wide
  const stroke = (d, colour, width) => {
    ctx.strokeStyle = colour
    ctx.lineWidth = width
    ctx.stroke(path(d))
  }
  const { body, sign } = marks[mark]
  const old = isOld(lake)
  ctx.save()
  ctx.translate(x, y)
  ctx.scale(r / 10, r / 10)
  ctx.lineJoin = ctx.lineCap = 'round'
  stroke(body, paper, (mark === 'none' ? 6 : 2.4 * unit)) // parts it from its neighbours and from the heat
  ctx.fillStyle = mark === 'none' || old ? paper : lake.shown.color
  ctx.fill(path(body))
  if (mark === 'none') {
    const width = Math.max(3, 1.5 * unit) // hollow however small it is: a full one would pass for a disc
    stroke(body, ring, width + unit)
    stroke(body, noData, width)
  } else {
    if (old) {
      ctx.globalAlpha = pale
      ctx.fillStyle = lake.shown.color
      ctx.fill(path(body))
      ctx.globalAlpha = 1
      if (r >= leastDashed) ctx.setLineDash([2.6 * unit, 1.8 * unit])
    }
    stroke(body, edge, (r < leastDashed ? 0.7 : old ? 1.4 : 1) * unit)
    ctx.setLineDash([])
  }
  if (r >= leastSigned) stroke(sign, mark === 'none' || old ? ink : signOn(lake.shown.color), 2.2)
  ctx.restore()
}

const pale = 0.4 // of an old value's colour; the style sheet's is the same
