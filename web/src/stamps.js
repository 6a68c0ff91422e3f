// Symbols that are drawn once and then copied: a map has thousands of lakes and only some dozens of symbols.
import { drawSymbol, look } from './symbols.js'

const most = 500 // stamps kept; each zoom has sizes of its own
const stamps = new Map()

/** Copies the symbol of a place onto the canvas, on whole pixels, so that it is sharp. */
export function stamp(ctx, { x, y, r, lake }, colours) {
  const ratio = window.devicePixelRatio
  const { mark, colour, old } = look(lake)
  const key = [mark, colour, old, r, ratio, colours.ink].join()
  let image = stamps.get(key)
  const half = Math.ceil((1.2 * r + 2) * ratio)
  if (!image) {
    image = Object.assign(document.createElement('canvas'), { width: 2 * half, height: 2 * half })
    const own = image.getContext('2d')
    own.scale(ratio, ratio)
    drawSymbol(own, half / ratio, half / ratio, r, lake, colours)
    if (stamps.size === most) stamps.clear()
    stamps.set(key, image)
  }
  const snapped = (at) => (Math.round(at * ratio) - half) / ratio
  ctx.drawImage(image, snapped(x), snapped(y), 2 * half / ratio, 2 * half / ratio)
}
