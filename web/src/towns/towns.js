// The names of towns on a map without a basemap. The files of this folder are a script of their own, which loads at the zooms that need it.
import { boxIndex, overlap } from '../boxindex.js'
import { addCanvasLayer } from '../canvaslayer.js'
import { files } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { labelBoxes } from '../labels.js'
import { canvasColours } from '../symbolpainter.js'

// The least size of a town that has a name at zoom 6, 7 and so on: the logarithm of its inhabitants to base 2.
const least = [19, 17, 16, 15, 13]
const city = 19

let asked = false

/** Adds the names below the marks of lakes, where those leave room. @param {Page} page */
export async function addTowns(page) {
  if (asked) return
  asked = true
  try {
    const { names, sizes, at } = await fetchJSON(files.townList)
    const towns = names.split('\n').map((name, i) => ({ name, size: parseInt(sizes[i], 36), lat: at[2 * i] / 100, lng: at[2 * i + 1] / 100 }))
    const [render] = addCanvasLayer(page.map, (ctx, bounds) => draw(ctx, bounds, page, towns), 'towns')
    page.drawTowns = render
  } catch {
    asked = false // the map works without towns; the next zoom tries again
  }
}

/** Draws the names of the largest towns first, each where neither a control, a mark or its label, nor another name is.
 * @param {CanvasRenderingContext2D} ctx @param {import('leaflet').Bounds} bounds @param {Page} page @param {any[]} towns */
function draw(ctx, { min, max }, { map, taken }, towns) {
  const from = least[Math.min(least.length - 1, Math.floor(map.getZoom()) - 6)]
  if (!from) return // too far away for names
  const { paper, ink, size } = canvasColours()
  const area = /** @type {Box} */ ([min.x, min.y, max.x, max.y])
  const own = boxIndex()
  Object.assign(ctx, { textBaseline: 'middle', lineJoin: 'round', lineWidth: 3, strokeStyle: paper, fillStyle: ink, globalAlpha: 0.8 })
  for (const { name, size: people, ...at } of towns) {
    if (people < from) return
    const { x, y } = map.latLngToLayerPoint(at)
    if (!overlap(area, [x, y, x, y])) continue
    ctx.font = `${people < city ? 400 : 600} ${size}px system-ui, sans-serif`
    const width = ctx.measureText(name).width
    const box = labelBoxes({ x, y, r: -2 }, width, size * 1.2, area).find((b) => ![taken, own].some((boxes) => boxes?.overlapping(b)[0]))
    if (!box) continue
    own.add(box)
    ctx.beginPath()
    ctx.arc(x, y, 2, 0, 2 * Math.PI)
    ctx.stroke()
    ctx.fill()
    ctx.strokeText(name, box[0], (box[1] + box[3]) / 2)
    ctx.fillText(name, box[0], (box[1] + box[3]) / 2)
  }
}
