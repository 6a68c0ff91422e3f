// What a near map has, such as the names of towns. The files of this folder are a script of their own, which loads at the zooms that need it.
import { boxIndex, overlap } from '../boxindex.js'
import { addCanvasLayer } from '../canvaslayer.js'
import { files } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { labelBoxes } from '../labels.js'
import { canvasColours } from '../symbolpainter.js'
import { addRivers } from './rivers.js'
import { addSizes } from './sizes.js'

// The least size of a town that has a name at zoom 6, 7 and so on: the logarithm of its inhabitants to base 2.
const least = [19, 17, 16, 15, 13]
const city = 19

const credit = 'GeoNames' // licences.txt has its licence; a link would be too small for a finger

let asked = false
let credited = false
let started = false

/** Adds what a near map has: on a map without a basemap the names of towns and more rivers, and on all the sizes of lakes. @param {Page} page */
export function addNear(page) {
  if (!page.config.basemap) addTowns(page)
  if (started) return
  started = true
  addSizes(page)
  if (!page.config.basemap) addRivers(page)
}

// addTowns adds the names below the marks of lakes, where those leave room.
async function addTowns(page) {
  if (asked) return
  asked = true
  try {
    const { names, sizes, at } = await fetchJSON(files.townList)
    const towns = names.split('\n').map((name, i) => ({ name, size: parseInt(sizes[i], 36), lat: at[2 * i] / 100, lng: at[2 * i + 1] / 100 }))
    const [render] = addCanvasLayer(page.map, (ctx, bounds) => showCredit(page.map, draw(ctx, bounds, page, towns)), 'towns')
    page.drawTowns = render
  } catch {
    asked = false // the map works without towns; the next zoom tries again
  }
}

// showCredit names the source of the names while the map has some, because a line for it takes some of a phone's map.
function showCredit({ attributionControl: control }, named) {
  if (named === credited) return
  credited = named
  if (named) control.addAttribution(credit)
  else control.removeAttribution(credit)
}

/** Draws the names of the largest towns first, each where neither a control, a mark or its label, nor another name is. Reports whether there are any.
 * @param {CanvasRenderingContext2D} ctx @param {import('leaflet').Bounds} bounds @param {Page} page @param {any[]} towns */
function draw(ctx, { min, max }, { map, taken }, towns) {
  const from = least[Math.min(least.length - 1, Math.floor(map.getZoom()) - 6)]
  if (!from) return false // too far away for names
  const { paper, ink, size } = canvasColours()
  const area = /** @type {Box} */ ([min.x, min.y, max.x, max.y])
  const own = boxIndex()
  let named = false
  Object.assign(ctx, { textBaseline: 'middle', lineJoin: 'round', lineWidth: 3, strokeStyle: paper, fillStyle: ink, globalAlpha: 0.8 })
  for (const { name, size: people, ...at } of towns) {
    if (people < from) break
    const { x, y } = map.latLngToLayerPoint(at)
    if (!overlap(area, [x, y, x, y])) continue
    ctx.font = `${people < city ? 400 : 600} ${size}px system-ui, sans-serif`
    const width = ctx.measureText(name).width
    const box = labelBoxes({ x, y, r: -2 }, width, size * 1.2, area).find((b) => ![taken, own].some((boxes) => boxes?.overlapping(b)[0]))
    if (!box) continue
    own.add(box)
    named = true
    ctx.beginPath()
    ctx.arc(x, y, 2, 0, 2 * Math.PI)
    ctx.stroke()
    ctx.fill()
    ctx.strokeText(name, box[0], (box[1] + box[3]) / 2)
    ctx.fillText(name, box[0], (box[1] + box[3]) / 2)
  }
  return named
}
