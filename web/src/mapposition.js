// The position of the map: its first view, the address bar, and the selected lake.
import { L } from './leaflet.js'
import { byId } from './dom.js'
import { positionFields, round } from './view.js'

const lakeZoom = 12 // for the first view of one lake
const minLakeZoom = 11 // for a lake that was selected outside the map
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
    if (matchMedia('print').matches) return // the printed map is the map on the screen
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
  const edge = 16
  const { paddingBottomRight } = padding(map, edge)
  // Offline, a line above the map takes some of its height. The zoom must stay the same, because the tiles of another zoom
  // are not stored.
  const paddingTopLeft = [edge, edge - byId('offline').offsetHeight]
  map.fitBounds(bounds, { ...noAnimation, maxZoom: lakeZoom, paddingTopLeft, paddingBottomRight })
}

const toBounds = ([west, south, east, north]) => L.latLngBounds([[south, west], [north, east < west ? east + 360 : east]])

// bboxOfAddress returns the bbox of an embedded map, or null.
function bboxOfAddress() {
  const box = new URLSearchParams(location.search).get('bbox')?.split(',').map(Number)
  return box?.length === 4 && box.every((v) => Math.abs(v) <= 180) ? box : null
}

/** Keeps clear of the map's edge and of the legend in its corner: an open one beside the map's content, a folded one below it.
 * @param {import('leaflet').Map} map @param {number} edge @returns {any} */
export function padding(map, edge) {
  const { x, y } = map.getSize()
  const { offsetWidth, offsetHeight } = byId('legend')
  const right = edge + offsetWidth
  return {
    paddingTopLeft: [edge, edge],
    paddingBottomRight: right < x / 2 && offsetHeight > offsetWidth ? [right, edge] : [edge, Math.min(edge + offsetHeight, y / 2)],
  }
}

// panToLake moves a lake into the visible part of the map, and zooms in if asked to.
function panToLake(map, lake, zoomIn) {
  if (zoomIn) setPosition(map, lake, Math.max(map.getZoom(), minLakeZoom))
  map.panInside(lake, padding(map, 66)) // the width of the buttons and of the lake's mark
}
