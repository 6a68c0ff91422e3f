// The marks of the lakes on the map.
import { L } from './leaflet.js'
import { addCanvasLayer } from './canvaslayer.js'
import { riskClasses, riskFilter } from './classify.js'
import { declutter, hitRadius, lakeNear, ringRadius } from './declutter.js'
import { element } from './dom.js'
import { drawLabels } from './labels.js'
import { maxNear } from './lakestore.js'
import { describeLake } from './laketext.js'
import { canvasColours, symbolPainter } from './symbolpainter.js'

const [zoomStep, maxCrowdZoom] = [2, 12] // a click among several lakes zooms in by that, up to that zoom

/** Adds the marks, and updates them with the lakes and the view. @param {Page} page */
export function addMarkers(page) {
  const { map, view, store } = page
  let scene = null // the marks and their painter, until the lakes, the view or the zoom changes
  const getScene = () => {
    const origin = map.getPixelOrigin()
    if (scene?.origin === origin) return scene
    const colours = canvasColours()
    const project = (lake) => map.project(lake).subtract(origin)
    scene = { origin, marks: declutter(visibleLakes(page), project, map.getZoom(), chosenFilter(page)), colours, paint: symbolPainter(colours) }
    return scene
  }
  const [render, redraw] = addCanvasLayer(map, (ctx, bounds) => draw(ctx, bounds, getScene(), page))
  const update = () => {
    scene = null
    redraw()
  }
  page.redrawMarks = () => {
    scene = null
    render()
  }
  store.on(update)
  view.on(['lake', 'risk', 'seen', 'style'], update)
  if (!store.get().complete) map.on('moveend', update)
  matchMedia('(prefers-color-scheme: dark)').onchange = update
  addPointer(page, (point) => lakeNear(getScene().marks, map.containerPointToLayerPoint(point), map.getZoom()))
}

// visibleLakes returns the lakes that pass the filter, and the selected lake.
function visibleLakes({ map, store, view }) {
  const hideMarks = isPartial(map, store.get())
  const { classList } = map.getContainer()
  classList.toggle('no-marks', hideMarks)
  classList.toggle('only-seen', view.get().seen !== null) // the tiles show older values too
  const passes = riskFilter(view)
  return store.get().lakes.filter((lake) => lake.id === view.get().lake || (!hideMarks && passes(lake)))
}

// chosenFilter returns a function that reports whether the user chose a lake: it is selected, or a filter is active. In the style dots all
// are, because its tiles show a mark for each.
function chosenFilter({ view }) {
  const { lake: selected, style, risk, seen } = view.get()
  const all = style === 'dots' || seen || riskClasses(risk).length > 0
  return (lake) => all || lake.id === selected
}

// isPartial reports whether the loaded lakes cover only the middle of the map. A server with very many lakes sends only the
// nearest ones; their marks alone would look as if there were no lakes elsewhere.
function isPartial(map, { complete, lakes }) {
  const middle = map.getSize().divideBy(2)
  return !complete && lakes.length >= maxNear
    && map.latLngToContainerPoint(lakes.at(-1)).distanceTo(middle) < Math.min(middle.x, middle.y)
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {L.Bounds} bounds
 * @param {{marks: Mark[], colours: any, paint: ReturnType<typeof symbolPainter>}} scene
 * @param {Page} page
 */
function draw(ctx, { min, max }, { marks, colours, paint }, page) {
  const { map, view } = page
  const { lake, style, seen } = view.get()
  const area = L.bounds(min.subtract([hitRadius, hitRadius]), max.add([hitRadius, hitRadius]))
  const visible = marks.filter(({ x, y }) => area.contains([x, y]))
  const selected = visible.find((m) => m.lake.id === lake)
  // The tiles of the style dots already have a mark for each lake, but it shows only the chlorophyll, and older values too.
  const drawn = visible.filter((m) => m.r && (style !== 'dots' || seen || m === selected || m.lake.worse || m.lake.closed || m.lake.warned))
  // Closed lakes are drawn last, before them marks without room for their full size, which it would cover; of all others the worst are last.
  const order = (m) => (m.lake.closed ? -1 : Number(m.full))
  for (const m of drawn.reverse().sort((a, b) => order(b) - order(a))) paint(ctx, m)
  if (selected) {
    drawRing(ctx, selected, colours)
    paint(ctx, selected) // its badge lies on the ring
  }
  page.taken = drawLabels(ctx, visible, map, selected, colours, page.areas)
  page.drawTowns?.()
}

// drawRing draws the ring around the selected lake.
function drawRing(ctx, mark, { ink, paper }) {
  ctx.beginPath()
  ctx.arc(mark.x, mark.y, ringRadius(mark), 0, 2 * Math.PI)
  for (const [strokeStyle, lineWidth] of [[paper, 6], [ink, 3]]) {
    Object.assign(ctx, { strokeStyle, lineWidth })
    ctx.stroke()
  }
}

// addPointer selects the lake that is clicked, zooms in where nobody can mean one of several, and shows the name of the lake under the mouse.
function addPointer(page, lakeAt) {
  const { map, view } = page
  const box = map.getContainer()
  map.on('click', ({ containerPoint }) => {
    const { lake, crowded } = lakeAt(containerPoint)
    if (!lake) return
    const zoom = map.getZoom()
    if (crowded && zoom < maxCrowdZoom) {
      map.setZoomAround(containerPoint, zoom + zoomStep)
      return
    }
    page.returnFocus = box
    view.set({ lake: lake.id })
  })
  const tooltip = L.tooltip({ offset: [0, -8], direction: 'top' })
  let hovered
  const hover = (lake) => {
    if (lake === hovered) return
    hovered = lake
    box.classList.toggle('on-lake', Boolean(lake))
    if (lake) tooltip.setLatLng(lake).setContent(element('span', {}, element('bdi', {}, lake.name), `: ${describeLake(lake)}`)).openOn(map)
    else tooltip.close()
  }
  const leave = () => hover()
  box.onpointermove = (event) => {
    if (event.pointerType !== 'mouse') return // touch opens the card without a tooltip
    if (event.buttons || event.target.closest('.leaflet-control')) leave()
    else hover(lakeAt(map.mouseEventToContainerPoint(event)).lake)
  }
  map.on('mouseout movestart', leave)
  page.store.on(leave) // the tooltip belongs to another week
}
