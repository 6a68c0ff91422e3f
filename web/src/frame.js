// Where the map is: its first view, the address bar's, and that of the lake that is chosen.
import * as L from 'leaflet'
import { byId } from './dom.js'

const lakeZoom = 12 // a single lake with its surroundings
const chosenZoom = 11 // the least at which a lake that was chosen elsewhere than on the map is shown
const still = { animate: false }

/**
 * Gives the map its first view: what the address asks for, else its lake or bbox, else all lakes. From then on the
 * address follows the map and the map the address; a lake that is chosen comes into the part that can be seen; and
 * the middle stays the middle when the map gets more or less room. A view that nobody has chosen is no part of the address.
 */
export function frame(page) {
  const { map, view, status } = page
  let own = false // moves that are no wish of the reader's
  let following = true // the chosen lake is kept in sight until the reader moves on
  const quietly = (move) => {
    own = true
    move()
    own = false
  }
  const follow = (closer) => {
    const lake = status.get().byId.get(view.get().lake)
    if (lake) bring(map, lake, closer(lake))
  }
  const arrive = () => quietly(() => (view.get().zoom === null ? start(page) : setPlace(map, view.get())))

  arrive()
  if (!status.get().complete && view.get().zoom === null) view.set(place(map)) // the lakes around the middle are asked for
  map.on('moveend', () => own || view.set(place(map)))
  map.on('dragstart zoomstart', () => { following = false })
  view.on(['lat', 'lon', 'zoom'], (now) => { if (differs(now, place(map))) arrive() })
  view.on(['lake'], (now, before) => {
    const elsewhere = !differs(now, before) && page.returnFocus?.matches(':not(#map, #map *)')
    follow((lake) => elsewhere || !map.getBounds().contains(lake))
    following = true // coming closer is no moving on
  })
  new ResizeObserver(() => {
    if (window.matchMedia('print').matches) return // what is printed is what was on the screen
    quietly(() => map.invalidateSize(still))
    const { zoom, lake } = view.get()
    if (zoom === null && lake === null) arrive() // all are to be seen, not only the middle
    if (following) follow(() => false) // a card that takes room is no reason to come closer
  }).observe(map.getContainer())
}

const differs = (a, b) => ['lat', 'lon', 'zoom'].some((name) => a[name] !== b[name])

const setPlace = (map, place, zoom = place.zoom) => map.setView(place, zoom, still)

// place is the middle and the zoom, as exact as the address holds them.
function place(map) {
  const { lat, lng } = map.getCenter().wrap()
  return { lat: Number(lat.toFixed(4)), lon: Number(lng.toFixed(4)), zoom: map.getZoom() }
}

function start({ map, view, status, tileJSON }) {
  const { lakes, byId: known, complete } = status.get()
  const lake = known.get(view.get().lake)
  if (lake) return setPlace(map, lake, lakeZoom)
  const box = asked()
  const bounds = !box && complete && lakes.length > 0 ? L.latLngBounds(lakes) : boundsOf(box ?? tileJSON.bounds)
  const edge = 16
  const { paddingBottomRight } = clear(map, edge)
  // As if the line that says offline lay over the map: the tiles of another zoom were never seen.
  const paddingTopLeft = [edge, edge - byId('offline').offsetHeight]
  map.fitBounds(bounds, { ...still, maxZoom: lakeZoom, paddingTopLeft, paddingBottomRight })
}

const boundsOf = ([west, south, east, north]) => L.latLngBounds([[south, west], [north, east < west ? east + 360 : east]])

// asked is the bbox of an embedded map's address, if there is one.
function asked() {
  const box = new URLSearchParams(location.search).get('bbox')?.split(',').map(Number)
  return box?.length === 4 && box.every((v) => Math.abs(v) <= 180) ? box : null
}

// clear keeps clear of the map's edge and of the legend in its corner.
function clear(map, edge) {
  const { x, y } = map.getSize()
  const { offsetWidth, offsetHeight } = byId('legend')
  const right = edge + offsetWidth
  return {
    paddingTopLeft: [edge, edge],
    paddingBottomRight: right < x / 2 ? [right, edge] : [edge, Math.min(edge + offsetHeight, y / 2)],
  }
}

// bring brings a lake into the part of the map that can be seen; closer, if it is to be seen among its neighbours.
function bring(map, lake, closer) {
  if (closer) setPlace(map, lake, Math.max(map.getZoom(), chosenZoom))
  map.panInside(lake, clear(map, 66)) // as wide as the buttons, with the lake's own mark
}
