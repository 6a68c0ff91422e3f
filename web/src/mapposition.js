// The position of the map: its first view, the address bar, and the selected lake.
import { L } from './leaflet.js'
import { byId } from './dom.js'
import { positionFields, round } from './view.js'

const lakeZoom = 12 // for the first view of one lake
const minLakeZoom = 11 // for a lake that was selected outside the map
const edge = 16 // px around all lakes
const around = 66 // px around a selected lake: the width of the buttons, and of its mark
const noAnimation = { animate: false }

/**
 * Sets the first view of the map: the position in the address, else its lake or bbox, else all lakes. Then the map and the
 * address follow each other, a selected lake is moved into the visible part, and the centre stays when the map changes its size.
 * The address has a position only after the user has moved the map.
 * @param {Page} page
 */
export function syncMapPosition(page) {
  const { map, view, store } = page
  let automatic = false // true during moves that the user did not make
  let following = true // keep the selected lake visible until the user moves the map
  const automatically = (move) => {
    automatic = true
    move()
    automatic = false
  }
  const showLake = (zoomIn) => {
    const lake = store.get().byId.get(view.get().lake)
    if (lake) panToLake(map, lake, zoomIn(lake))
  }
  const applyView = () => automatically(() => (view.get().zoom === null ? setFirstView(page) : setPosition(map, view.get())))

  applyView()
  if (!store.get().complete && view.get().zoom === null) view.set(positionOf(map)) // the store loads the lakes near the centre
  map.on('moveend', () => automatic || view.set(positionOf(map)))
  map.on('dragstart zoomstart', () => { following = false })
  view.on(positionFields, (now) => { if (differs(now, positionOf(map))) applyView() })
  view.on(['lake'], (now, before) => {
    const fromList = !differs(now, before) && page.returnFocus?.matches(':not(#map, #map *)')
    showLake((lake) => fromList || !map.getBounds().contains(lake))
    following = true // after zooming in
  })
  new ResizeObserver(() => {
    if (page.printing) return // the printed map is the map on the screen
    automatically(() => map.invalidateSize(noAnimation))
    const { zoom, lake } = view.get()
    if (zoom === null && lake === null) applyView() // all lakes must be visible
    if (following) showLake(() => false)
  }).observe(map.getContainer())
}

const differs = (a, b) => positionFields.some((name) => a[name] !== b[name])

const setPosition = (map, position, zoom = position.zoom) => map.setView(position, zoom, noAnimation)

// positionOf returns centre and zoom, rounded as in the address.
function positionOf(map) {
  const { lat, lng } = map.getCenter().wrap()
  return { lat: round(lat, 4), lon: round(lng, 4), zoom: map.getZoom() }
}

function setFirstView({ map, view, store, tileJSON }) {
  const { lakes, byId: known, complete } = store.get()
  const lake = known.get(view.get().lake)
  if (lake) return setPosition(map, lake, lakeZoom)
  const box = bboxOfAddress()
  const bounds = !box && complete && lakes.length > 0 ? L.latLngBounds(lakes) : toBounds(box ?? tileJSON.bounds)
  // Offline, a line above the map takes some of its height. The zoom must stay the same, because the tiles of another zoom
  // are not stored.
  fitVisible(map, bounds, { ...noAnimation, maxZoom: lakeZoom }, edge, byId('offline').offsetHeight)
}

/**
 * Moves the map so that bounds fill the part that neither the buttons nor the legend cover, and that is on the screen before the page is scrolled.
 * @param {import('leaflet').Map} map @param {import('leaflet').LatLngBounds} bounds @param {import('leaflet').FitBoundsOptions} options
 * @param {number} margin px around the bounds @param {number} [above] px above the map that count as a part of it
 */
export function fitVisible(map, bounds, options, margin, above = 0) {
  const topLeft = L.point(margin, margin - above)
  const bottomRight = L.point(margin, margin)
  const { x, y } = map.getSize()
  const [buttons, legend] = corners(map)
  for (const [corner, side] of /** @type {[any, L.Point][]} */ ([[legend, bottomRight], [buttons, topLeft]])) {
    const zoom = map.getBoundsZoom(bounds, false, topLeft.add(bottomRight))
    const width = map.project(bounds.getNorthEast(), zoom).x - map.project(bounds.getSouthWest(), zoom).x
    if (width < x - 2 * corner.width) continue // on a wide map it lies beside the lakes
    if (corner.isRow) side.y += Math.min(corner.height, Math.max(0, y / 2 - 2 * margin))
    else bottomRight.x += Math.min(corner.width, x / 2 - 2 * margin)
  }
  map.fitBounds(bounds, { ...options, paddingTopLeft: topLeft, paddingBottomRight: bottomRight })
}

const toBounds = ([west, south, east, north]) => L.latLngBounds([[south, west], [north, east < west ? east + 360 : east]])

// bboxOfAddress returns the bbox of an embedded map, or null.
function bboxOfAddress() {
  const box = new URLSearchParams(location.search).get('bbox')?.split(',').map(Number)
  return box?.length === 4 && box.every((v) => Math.abs(v) <= 180) ? box : null
}

// corners returns what the buttons and the legend cover of the map, from its top right and its bottom right corner. What lies below the screen
// counts as covered by the legend, which is then there too.
function corners(map) {
  const box = map.getContainer().getBoundingClientRect()
  const below = Math.max(0, box.bottom + scrollY - innerHeight)
  return ['controls', 'legend'].map((id) => {
    const { width, height, left, top, bottom } = byId(id).getBoundingClientRect()
    return { width: width && box.right - left, height: width && (id === 'legend' ? Math.max(below, box.bottom - top) : bottom - box.top), isRow: width > height }
  })
}

// panToLake moves a lake into the visible part of the map, and zooms in if asked to. An open legend is beside the lake, a folded one below it.
function panToLake(map, lake, zoomIn) {
  if (zoomIn) setPosition(map, lake, Math.max(map.getZoom(), minLakeZoom))
  const { x, y } = map.getSize()
  const [buttons, legend] = corners(map)
  const beside = legend.width < x / 2 && !legend.isRow
  const top = buttons.isRow ? buttons.height : 0
  const bottom = beside ? 0 : legend.height
  const space = Math.max(0, Math.min(around, (y - top - bottom) / 2 - 1))
  map.panInside(lake, { paddingTopLeft: [around, top + space], paddingBottomRight: [around + (beside ? legend.width : 0), bottom + space] })
}
