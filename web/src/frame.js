// Where the map is: its first view, the address bar's, and that of the lake that is chosen.
import * as L from 'leaflet'

const lakeZoom = 12 // a single lake with its surroundings
const chosenZoom = 11 // the least at which a lake that was chosen elsewhere than on the map is shown

/**
 * Gives the map its first view: what the address asks for, else its lake or bbox, else all lakes. From then on the
 * address follows the map and the map the address; a lake that is chosen comes into the part that can be seen; and
 * the middle stays the middle when the map gets more or less room. A view that nobody has changed is no part of the address.
 */
export function frame(page) {
  const { map, view, status } = page
  let own = false // moves that are no wish of the reader's
  const quietly = (move) => {
    own = true
    move()
    own = false
  }
  let following = null // the id of the lake to be kept in sight until the reader moves on
  const follow = (closer) => {
    const lake = following && status.get().byId.get(following)
    if (lake) bring(map, lake, closer)
    return Boolean(lake)
  }
  const first = () => quietly(() => start(page))

  first()
  map.on('moveend', () => { if (!own) view.set(place(map)) })
  map.on('dragstart zoomstart', () => { following = null })
  view.on(['lake', 'lat', 'lon', 'zoom'], (now, before) => {
    const { lat, lon, zoom } = place(map)
    const moved = now.lat !== before.lat || now.lon !== before.lon || now.zoom !== before.zoom
    if (moved && now.zoom === null) first()
    else if (moved && (now.lat !== lat || now.lon !== lon || now.zoom !== zoom)) quietly(() => setPlace(map, now))
    if (now.lake === before.lake) return
    const elsewhere = !moved && page.returnFocus && !map.getContainer().contains(page.returnFocus)
    following = now.lake
    follow(elsewhere)
    following = now.lake // coming closer is no moving on
  })
  let awaited = view.get().lake
  status.on(() => {
    if (awaited === null || awaited !== view.get().lake || !status.get().byId.has(awaited)) return
    if (view.get().zoom === null) first()
    awaited = null
  })
  following = awaited
  if (status.get().byId.has(awaited)) awaited = null
  if (!status.get().complete && view.get().zoom === null) view.set(place(map)) // the lakes around the middle are asked for

  new ResizeObserver(() => {
    if (window.matchMedia('print').matches) return // the print is of what was on the screen
    const none = map.getSize().x === 0 || map.getSize().y === 0
    quietly(() => map.invalidateSize({ animate: false }))
    if (none && view.get().zoom === null) first()
    else follow(false)
  }).observe(map.getContainer())
}

const setPlace = (map, { lat, lon, zoom }) => map.setView([lat, lon], zoom, { animate: false })

// place is the middle and the zoom, as exact as the address holds them.
function place(map) {
  const { lat, lng } = map.getCenter().wrap()
  return { lat: Number(lat.toFixed(4)), lon: Number(lng.toFixed(4)), zoom: Number(map.getZoom().toFixed(2)) }
}

function start({ map, view, status, tileJSON }) {
  const now = view.get()
  if (now.zoom !== null) return setPlace(map, now)
  const { lakes, byId, complete } = status.get()
  const lake = byId.get(now.lake)
  if (lake) return map.setView([lake.lat, lake.lon], lakeZoom, { animate: false })
  const all = complete && lakes.length > 0 ? L.latLngBounds(lakes.map((l) => [l.lat, l.lon])) : boundsOf(tileJSON.bounds)
  const bounds = asked() ?? all
  const [beside, above] = clear(map, 16)
  const zoom = ({ paddingTopLeft, paddingBottomRight }) => map.getBoundsZoom(bounds, false, L.point(paddingTopLeft).add(paddingBottomRight))
  map.fitBounds(bounds, { animate: false, maxZoom: lakeZoom, ...(zoom(above) > zoom(beside) ? above : beside) })
}

const boundsOf = ([west, south, east, north]) => L.latLngBounds([[south, west], [north, east]])

// asked is the bbox of an embedded map's address, if there is one; its east may lie beyond the antimeridian.
function asked() {
  const box = (new URLSearchParams(location.search).get('bbox') ?? '').split(',').map((s) => (s.trim() ? Number(s) : NaN))
  const [west, south, east, north] = box
  const valid = box.length === 4 && [west, east].every((v) => Math.abs(v) <= 180) && [south, north].every((v) => Math.abs(v) <= 90) && south <= north
  return valid ? boundsOf([west, south, west > east ? east + 360 : east, north]) : null
}

// clear gives the two ways of keeping clear of the map's edge and of the legend in its corner: beside that, and above it.
function clear(map, edge) {
  const { x, y } = map.getSize()
  const legend = map.getContainer().querySelector('#legend')
  const least = 60 // px that are left to be looked at
  const padding = (right, bottom) => ({
    paddingTopLeft: [edge, edge],
    paddingBottomRight: [Math.min(right, x - edge - least), Math.min(bottom, y - edge - least)],
  })
  if (!legend) return [padding(edge, edge), padding(edge, edge)]
  return [padding(legend.offsetWidth + edge + 10, edge), padding(edge, legend.offsetHeight + edge + 10)]
}

// bring brings a lake into the part of the map that can be seen; closer, if it is to be seen among its neighbours.
function bring(map, { lat, lon }, closer) {
  const zoom = map.getZoom()
  const there = [lat, lon]
  if (closer && zoom < chosenZoom) map.setView(there, chosenZoom, { animate: false })
  else if (!map.getBounds().contains(there)) map.setView(there, Math.max(zoom, chosenZoom), { animate: false })
  const [beside, above] = clear(map, 52) // as wide as the column of buttons
  const room = ({ paddingTopLeft: [left, top], paddingBottomRight: [right, bottom] }) => {
    const { x, y } = map.getSize()
    return (x - left - right) * (y - top - bottom)
  }
  map.panInside(there, room(above) > room(beside) ? above : beside)
}
