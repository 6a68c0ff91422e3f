// Symbols that are drawn once and then copied: a map has thousands of lakes and only some dozens of symbols.
import * as L from 'leaflet'
import { drawing, look } from './symbols.js'

const ratio = L.Browser.retina ? 2 : 1 // of Leaflet's canvases
const leastFine = 6 // px: in a smaller symbol its sign would be a blot, and dashes would take its shape

/** What the canvas is drawn with, by day or by night: the style sheet's own colours. */
export function inks() {
  const style = getComputedStyle(document.body)
  return { paper: style.getPropertyValue('--paper'), ink: style.getPropertyValue('--ink') }
}

/** Returns what copies the symbol of a place onto a canvas, on whole pixels, so that it is sharp. */
export function stamps(colours) {
  const made = new Map() // as many as there are colours, marks and sizes
  return (ctx, { x, y, r, lake }) => {
    const seen = look(lake)
    const key = [seen.mark, seen.colour, seen.old, r].join()
    if (!made.has(key)) made.set(key, stamp(seen, r, colours))
    const image = made.get(key)
    const side = image.width / ratio
    const [left, top] = [x, y].map((at) => Math.round((at - side / 2) * ratio) / ratio)
    ctx.drawImage(image, left, top, side, side)
  }
}

// stamp draws a symbol of that radius.
function stamp({ mark, colour, sign, old }, r, { paper, ink }) {
  const none = mark === 'none'
  const fine = r >= leastFine
  const side = 2 * Math.ceil((1.2 * r + 2) * ratio)
  const image = Object.assign(document.createElement('canvas'), { width: side, height: side })
  const ctx = image.getContext('2d')
  const scale = r * ratio / 10
  ctx.setTransform(scale, 0, 0, scale, side / 2, side / 2)
  ctx.lineJoin = ctx.lineCap = 'round'
  const [body, inner] = Array.from(drawing(mark).children, (path) => new Path2D(path.getAttribute('d')))
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
  const ring = Math.max(3, 1.5 * unit) // hollow however small it is: a full one would pass for a disc
  stroke(body, paper, 2.4 * unit + (none ? ring : 0)) // parts it from its neighbours and from the heat
  fill(paper)
  if (none) {
    stroke(body, `${ink}99`, ring + unit)
    stroke(body, colour, ring)
  } else {
    fill(old ? `${colour}66` : colour) // paled as in the style sheet
    if (old && fine) ctx.setLineDash([2 * unit, 2.8 * unit])
    stroke(body, ink, (fine ? old ? 1.4 : 1 : 0.7) * unit)
    ctx.setLineDash([])
  }
  if (fine) stroke(inner, none || old ? ink : sign, 2.2)
  return image
}
