// The lakes on the map: a mark for each.
import * as L from 'leaflet'
import { lakesShown } from './filter.js'
import { drawLabels } from './labels.js'
import { summary } from './lake.js'
import { markCanvas } from './markcanvas.js'
import { stamp } from './stamps.js'
import { inks } from './symbols.js'
import { ringRadius, thin } from './thinning.js'

const reach = 14 // px around the pointer: a target of 28 px, wherever and however small the mark

/** Adds the marks, and keeps them to the lakes that are shown. Where page.markersShown is false there are none. */
export function addMarkers(page) {
  const { map, view, status } = page
  let [places, zoom] = [] // of all marks, until the zoom or what is shown changes
  const placed = () => {
    if (!places || zoom !== map.getZoom()) {
      zoom = map.getZoom()
      places = thin(lakesMarked(page), (at) => map.project(at, zoom), zoom)
    }
    return places
  }
  const redraw = markCanvas(map, (ctx, bounds) => draw(ctx, placed(), bounds, page))
  const anew = () => {
    places = null
    redraw()
  }
  status.on(anew)
  view.on(['lake', 'risk', 'style'], anew)
  map.on('markers', anew)
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', anew)
  addPointer(page, (at) => nearest(placed(), map.getPixelBounds().min.add(at)))
}

// lakesMarked has the chosen lake too, whatever the filter.
function lakesMarked({ status, view, markersShown }) {
  if (markersShown === false) return []
  const lakes = lakesShown(status, view)
  const chosen = status.get().byId.get(view.get().lake)
  return !chosen || lakes.includes(chosen) ? lakes : [...lakes, chosen]
}

function draw(ctx, places, [left, top, right, bottom], { map, view }) {
  const { lake, style } = view.get()
  const seen = places.filter(({ x, y }) => x > left - reach && x < right + reach && y > top - reach && y < bottom + reach)
  const chosen = seen.find((p) => p.lake.id === lake)
  const colours = inks()
  // The tiles of that style have a mark for each lake, but of its value alone.
  const drawn = style === 'dots' ? seen.filter((p) => p === chosen || p.lake.reported) : seen
  // The small ones lie above, or they would vanish below a large one; the worst come last.
  for (const full of [true, false]) {
    for (const p of drawn.toReversed()) if (p.full === full) stamp(ctx, p, colours)
  }
  if (chosen) ring(ctx, chosen, colours)
  drawLabels(ctx, seen, map.getZoom(), chosen, colours)
}

// ring goes round the chosen lake and hides none that is near.
function ring(ctx, p, { ink, paper }) {
  for (const [colour, width] of [[paper, 6], [ink, 3]]) {
    ctx.strokeStyle = colour
    ctx.lineWidth = width
    ctx.beginPath()
    ctx.arc(p.x, p.y, ringRadius(p), 0, 2 * Math.PI)
    ctx.stroke()
  }
}

// nearest returns the lake nearest to a point. Where lakes crowd, the topmost mark would be another one than the reader
// meant; of two that are equally near the worse one comes first.
function nearest(places, { x, y }) {
  let [best, least] = [null, reach]
  for (const p of places) {
    if (Math.abs(p.x - x) > reach || Math.abs(p.y - y) > reach) continue
    const distance = Math.hypot(p.x - x, p.y - y)
    if (distance < least) [best, least] = [p.lake, distance]
  }
  return best
}

// addPointer opens the lake that is clicked on, and names the one under the mouse.
function addPointer(page, lakeAt) {
  const { map, view } = page
  map.on('click', ({ containerPoint }) => {
    const lake = lakeAt(containerPoint)
    if (!lake) return
    page.returnFocus = map.getContainer()
    view.set({ lake: lake.id })
  })
  const tip = L.tooltip({ offset: [0, -8], direction: 'top' })
  let under = null
  const point = (lake) => {
    if (lake === under) return
    under = lake
    map.getContainer().classList.toggle('on-lake', lake !== null)
    if (lake === null) return map.closeTooltip(tip)
    tip.setLatLng([lake.lat, lake.lon]).setContent(document.createTextNode(summary(lake)))
    map.openTooltip(tip)
  }
  map.getContainer().addEventListener('pointermove', (event) => {
    if (event.pointerType !== 'mouse') return // a finger goes straight to the card
    const free = event.buttons === 0 && !event.target.closest('.leaflet-control')
    point(free ? lakeAt(map.mouseEventToContainerPoint(event)) : null)
  })
  map.on('mouseout movestart', () => point(null))
  page.status.on(() => point(null)) // what it says is of another week
}
