// Paints symbols on a canvas. Each is rendered once and then copied: thousands of lakes need only some dozens of symbols.
import { pixelRatio } from './canvaslayer.js'
import { drawing, symbolStyle } from './symbols.js'

const minDetail = 6 // px: smaller symbols have no sign and no dashes

/** Returns the colours of the style sheet for the canvas, which depend on the colour scheme, and the size of its labels in px. */
export function canvasColours() {
  const style = getComputedStyle(document.body)
  const [paper, ink, label] = ['paper', 'ink', 'label'].map((name) => style.getPropertyValue(`--${name}`))
  return { paper, ink, size: Number(label) || Math.max(12, 0.75 * parseFloat(style.fontSize)) }
}

/** Returns a function that paints the symbol of a mark. It lies on whole pixels, so that it is sharp.
 * @param {{paper: string, ink: string}} colours @returns {(ctx: CanvasRenderingContext2D, mark: Mark) => void} */
export function symbolPainter(colours) {
  const images = new Map()
  return (ctx, { x, y, r, lake, hollow }) => {
    const style = { ...symbolStyle(lake), r, hollow }
    const key = Object.values(style).join()
    if (!images.has(key)) images.set(key, render(style, colours))
    const image = images.get(key)
    const side = image.width / pixelRatio
    const [left, top] = [x, y].map((at) => Math.round((at - side / 2) * pixelRatio) / pixelRatio)
    ctx.drawImage(image, left, top, side, side)
  }
}

// render draws a symbol of radius r. A hollow one is an outline with a pale colour, through which the heat map is seen, and without a sign.
function render({ name, colour, sign, old, badge, r, hollow }, { paper, ink }) {
  const none = name === 'none'
  const detailed = r >= minDetail
  const side = 2 * Math.ceil((1.2 * r + 2) * pixelRatio)
  const image = Object.assign(document.createElement('canvas'), { width: side, height: side })
  const ctx = image.getContext('2d')
  const scale = r * pixelRatio / 10
  ctx.setTransform(scale, 0, 0, scale, side / 2, side / 2)
  ctx.lineJoin = ctx.lineCap = 'round'
  const paths = (of) => Array.from(drawing(of).children, (path) => new Path2D(path.getAttribute('d')))
  const [body, inner] = paths(name)
  const pixel = 10 / r // in the units of the symbol
  const stroke = (path, style, width) => {
    ctx.strokeStyle = style
    ctx.lineWidth = width
    ctx.stroke(path)
  }
  const fill = (style, path = body) => {
    ctx.fillStyle = style
    ctx.fill(path)
  }
  const ring = Math.max(3, 1.5 * pixel) // thin even in a small symbol, so that it does not look like a disc
  if (!hollow) {
    stroke(body, paper, 2.4 * pixel + (none ? ring : 0)) // separates it from other symbols and from the heat map
    fill(paper)
  }
  if (none) {
    stroke(body, `${ink}99`, ring + pixel)
    stroke(body, colour, ring)
  } else {
    fill(colour + (hollow ? '40' : old ? '66' : '')) // pale as in the style sheet
    if (old && detailed) ctx.setLineDash([2 * pixel, 2.8 * pixel])
    stroke(body, ink, (!detailed ? 0.7 : old && !hollow ? 1.4 : 1) * pixel)
    ctx.setLineDash([])
  }
  if (detailed && !hollow) stroke(inner, none ? ink : old ? `${ink}99` : sign, 2.2) // that of an old value is not the first thing one sees
  if (badge) {
    const [disc, mark] = paths('badge')
    stroke(disc, paper, 2.4 * pixel)
    fill(ink, disc)
    if (detailed) stroke(mark, paper, 1.9)
  }
  return image
}
