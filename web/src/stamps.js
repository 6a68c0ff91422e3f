// Symbols that are drawn once and then copied: a map has thousands of lakes and only some dozens of symbols.
import { drawSymbol, look } from './symbols.js'

const most = 500 // stamps kept; each zoom has sizes of its own
const stamps = new Map()

/** Copies the symbol of a place onto the canvas, on whole pixels, so that it is sharp. The place remembers its stamp. */
export function stamp(ctx, place, colours) {
  const ratio = window.devicePixelRatio
  place.stamp ??= stampOf(place, ratio, colours)
  const side = place.stamp.width / ratio
  const snapped = (at) => Math.round((at - side / 2) * ratio) / ratio
  ctx.drawImage(place.stamp, snapped(place.x), snapped(place.y), side, side)
}

function stampOf({ r, lake }, ratio, colours) {
  const { mark, colour, old } = look(lake)
  const key = [mark, colour, old, r, ratio, colours.ink].join()
  let image = stamps.get(key)
  if (image) return image
  const side = 2 * Math.ceil((1.2 * r + 2) * ratio)
  image = Object.assign(document.createElement('canvas'), { width: side, height: side })
  const ctx = image.getContext('2d')
  ctx.scale(ratio, ratio)
  drawSymbol(ctx, side / 2 / ratio, side / 2 / ratio, r, lake, colours)
  if (stamps.size === most) stamps.clear()
  stamps.set(key, image)
  return image
}
