// The lakes on the map: a mark for each.
import * as L from 'leaflet'
import { filterOf } from './filter.js'
import { drawLabels } from './labels.js'
import { summary } from './lake.js'
import { markCanvas } from './markcanvas.js'
import { inks, stamps } from './stamps.js'
import { mostNear } from './status.js'
import { ringRadius, thin } from './thinning.js'

const reach = 14 // px around the pointer: a target of 28 px, wherever and however small the mark

/** Adds the marks, and keeps them to the lakes that are shown. */
export function addMarkers(page) {
  const { map, view, status } = page
  let plane = {} // the marks and what they are drawn with, until what is shown changes or the map counts anew
  const placed = () => {
    const origin = map.getPixelOrigin()
    if (plane.origin === origin) return plane
    const colours = inks()
    plane = { origin, places: thin(lakesMarked(page), map), colours, stamp: stamps(colours) }
    return plane
  }
  const redraw = markCanvas(map, (ctx, bounds) => draw(ctx, bounds, placed(), page))
  const anew = () => {
    plane = {}
    redraw()
  }
  status.on(anew)
  view.on(['lake', 'risk', 'style'], anew)
  if (!status.get().complete) map.on('moveend', anew)
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', anew)
  addPointer(page, (at) => nearest(placed().places, map.containerPointToLayerPoint(at)))
}

// lakesMarked has the chosen lake too, whatever the filter.
function lakesMarked({ map, status, view }) {
  const clump = isClump(map, status.get())
  map.getContainer().classList.toggle('clump', clump)
  const wanted = filterOf(view)
  return status.get().lakes.filter((lake) => lake.id === view.get().lake || (!clump && wanted(lake)))
}

// isClump reports whether the lakes near the middle, which are all that a server of the world gives, lie there together
// and leave the rest of the map bare, as if it had none.
function isClump(map, { complete, lakes }) {
  const middle = map.getSize().divideBy(2)
  return !complete && lakes.length >= mostNear
    && map.latLngToContainerPoint(lakes.at(-1)).distanceTo(middle) < Math.min(middle.x, middle.y)
}

function draw(ctx, { min, max }, { places, colours, stamp }, { map, view }) {
  const { lake, style } = view.get()
  const near = L.bounds(min.subtract([reach, reach]), max.add([reach, reach]))
  const seen = places.filter(({ x, y }) => near.contains([x, y]))
  const chosen = seen.find((p) => p.lake.id === lake)
  // The tiles of that style have a mark for each lake, but of its value alone.
  const drawn = seen.filter((p) => style !== 'dots' || p === chosen || p.lake.reported)
  // The small ones lie above, or they would vanish below a large one; the worst come last.
  for (const p of drawn.reverse().sort((a, b) => b.full - a.full)) stamp(ctx, p)
  if (chosen) ring(ctx, chosen, colours)
  drawLabels(ctx, seen, map.getZoom(), chosen, colours)
}

// ring goes round the chosen lake and hides none that is near.
function ring(ctx, p, { ink, paper }) {
  ctx.beginPath()
  ctx.arc(p.x, p.y, ringRadius(p), 0, 2 * Math.PI)
  for (const [strokeStyle, lineWidth] of [[paper, 6], [ink, 3]]) {
    Object.assign(ctx, { strokeStyle, lineWidth })
    ctx.stroke()
  }
}

// nearest returns the lake nearest to a point. Where lakes crowd, the topmost mark would be another one than the reader
// meant; of two that are equally near the worse one comes first.
function nearest(places, { x, y }) {
  let best = { distance: reach }
  for (const p of places) {
    const distance = Math.hypot(p.x - x, p.y - y)
    if (distance < best.distance) best = { distance, lake: p.lake }
  }
  return best.lake
}

// addPointer opens the lake that is clicked on, and names the one under the mouse.
function addPointer(page, lakeAt) {
  const { map, view } = page
  const box = map.getContainer()
  map.on('click', ({ containerPoint }) => {
    const lake = lakeAt(containerPoint)
    if (!lake) return
    page.returnFocus = box
    view.set({ lake: lake.id })
  })
  const tip = L.tooltip({ offset: [0, -8], direction: 'top' })
  let under
  const point = (lake) => {
    if (lake === under) return
    under = lake
    box.classList.toggle('on-lake', Boolean(lake))
    if (lake) tip.setLatLng(lake).setContent(document.createTextNode(summary(lake))).openOn(map)
    else tip.close()
  }
  const leave = () => point()
  box.addEventListener('pointermove', (event) => {
    if (event.pointerType !== 'mouse') return // a finger goes straight to the card
    if (event.buttons || event.target.closest('.leaflet-control')) leave()
    else point(lakeAt(map.mouseEventToContainerPoint(event)))
  })
  map.on('mouseout movestart', leave)
  page.status.on(leave) // what it says is of another week
}
