// The symbol of a lake: what its marker, the list, its card and the legend show. Colour, shape and sign tell the risk,
// each without the others: a disc with a wave, a triangle with an exclamation mark, a square on its tip with a cross,
// and a grey ring with a question mark for no value. None promises safety: a satellite does not know that.
import { svg } from './dom.js'

const noData = '#9aa0a6' // the one grey, and it stands for no data

// Body and sign as paths about the middle, in tenths of the radius: how far a shape reaches follows from its area, so
// that they weigh alike. The sign is a stroke, which no font can lack.
const marks = {
  low: ['M-8.6 0a8.6 8.6 0 1 0 17.2 0a8.6 8.6 0 1 0-17.2 0z', 'M-5 .4C-3-2.6-1.6-2.6 0 0S3 2.6 5-.4'],
  medium: ['M0-10.6L10.8 7.8H-10.8z', 'M0-4.6V1.2M0 4.7v.01'],
  high: ['M0-11.4L11.4 0L0 11.4L-11.4 0z', 'M-3.5-3.5l7 7m0-7l-7 7'],
  none: ['M-8 0a8 8 0 1 0 16 0a8 8 0 1 0-16 0z', 'M-2.3-2.2A2.3 2.3 0 1 1 1.4-.3C.3.3 0 .7 0 1.5M0 4.2v.01'],
}

/** The mark of a lake: low, medium or high as it is shown, none without a value, whatever its risk was then. */
export const markOf = (lake) => (lake.chl !== null && marks[lake.shown.risk] ? lake.shown.risk : 'none')

/** How a lake's symbol looks: its mark, its colour, and whether it looks old. */
export function look(lake) {
  const mark = markOf(lake)
  const none = mark === 'none' // then all is old; the ring says that already
  return { mark, none, colour: none ? noData : lake.shown.color, old: !none && Boolean(lake.old) }
}

/**
 * The symbol of a lake as an inline SVG, 1.25 em wide, beside text that says the same. It takes {chl, shown, old}:
 * anything that has them can have a symbol.
 */
export function symbol(lake) {
  const { mark, colour, old } = look(lake)
  const s = svg('svg', { class: `symbol ${mark}${old ? ' old' : ''}`, viewBox: '-13 -13 26 26', 'aria-hidden': 'true' })
  s.style.setProperty('--colour', colour)
  s.style.setProperty('--sign', signOn(colour))
  s.append(...marks[mark].map((d) => svg('path', { d })))
  return s
}

// signOn is what can be read on a colour: white on dark ones, ink on light ones.
function signOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.18 ? '#fff' : '#1d2328'
}

/** What the canvas is drawn with, by day or by night: the style sheet's own colours. */
export function inks() {
  const style = getComputedStyle(document.body)
  return { paper: style.getPropertyValue('--paper'), ink: style.getPropertyValue('--ink') }
}

const leastSigned = 6 // px: in a smaller symbol its sign would be a blot,
const leastDashed = 4 // and dashes would take its shape

/** Draws the symbol of a lake about a point of a canvas, with a radius in its units. */
export function drawSymbol(ctx, x, y, r, lake, { paper, ink } = inks()) {
  const { mark, none, colour, old } = look(lake)
  const [body, sign] = marks[mark].map((d) => new Path2D(d))
  const unit = 10 / r // what is one pixel wide
  const stroke = (path, style, width) => {
    ctx.strokeStyle = style
    ctx.lineWidth = width
    ctx.stroke(path)
  }
  const fill = (style) => {
    ctx.fillStyle = style
    ctx.fill(body)
  }
  ctx.save()
  ctx.translate(x, y)
  ctx.scale(r / 10, r / 10)
  ctx.lineJoin = ctx.lineCap = 'round'
  const ring = Math.max(3, 1.5 * unit) // hollow however small it is: a full one would pass for a disc
  stroke(body, paper, 2.4 * unit + (none ? ring : 0)) // parts it from its neighbours and from the heat
  fill(paper)
  if (none) {
    stroke(body, `${ink}99`, ring + unit)
    stroke(body, noData, ring)
  } else {
    fill(old ? `${colour}66` : colour) // paled as in the style sheet
    if (old && r >= leastDashed) ctx.setLineDash([2 * unit, 2.8 * unit])
    stroke(body, ink, (r < leastDashed ? 0.7 : old ? 1.4 : 1) * unit)
    ctx.setLineDash([])
  }
  if (r >= leastSigned) stroke(sign, none || old ? ink : signOn(colour), 2.2)
  ctx.restore()
}
