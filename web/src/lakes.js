// The lakes on the map: a marker for each, and the card of the one that is chosen.
import * as L from 'leaflet'
import { card, summary } from './lake.js'
import { wide } from './map.js'
import { words } from './words.js'

const noData = '#9aa0a6' // the one grey, and it stands for no data
const dark = window.matchMedia('(prefers-color-scheme: dark)')
const paper = '#ffffff'
const leastReported = 5 // px, the least radius of a lake of which worse was reported than its chlorophyll tells
const reach = 14 // px around the pointer: a target of 28 px, wherever and however small the marker

/** Adds the lakes; returns a function that shows a lake's card, and calls `closed` once that is closed. */
export function addLakes(map, lakes) {
  const markers = lakes.toSorted((a, b) => rank(a) - rank(b) || a.chl - b.chl).map((lake) => (
    { lake, circle: L.circleMarker([lake.lat, lake.lon], { interactive: false, ...look(lake, map.getZoom()) }).addTo(map) }
  ))
  const restyle = () => markers.forEach(({ lake, circle }) => circle.setStyle(look(lake, map.getZoom())))
  map.on('zoomend', restyle)
  dark.addEventListener('change', restyle)
  const show = (lake, closed) => showCard(map, lake, closed)
  map.on('click', ({ containerPoint }) => {
    const lake = nearest(map, lakes, containerPoint)
    if (lake) show(lake)
  })
  addTooltip(map, lakes)
  return (lake, closed) => {
    map.invalidateSize({ pan: false }) // whoever asks may just have made room
    map.setView([lake.lat, lake.lon], Math.max(map.getZoom(), 11), { animate: false })
    show(lake, closed).focus()
  }
}

// rank has the worst drawn last, so that no bloom is hidden under a clean neighbour, and no gap in what is known either.
const rank = (lake) => lake.shown?.level ?? 0.5

// look lets the heat be seen from afar, and the lakes from near. A lake without a value is a ring at every zoom, and its
// inside hides the heat of its neighbours, which is not its own. A lake of which worse was reported than its heat tells
// stands out of that heat from afar too.
function look(lake, zoom) {
  const radius = Math.min(9, 1.5 * 1.45 ** (Math.max(zoom, 5) - 5))
  if (lake.chl === null) {
    const weight = Math.max(1.5, Math.min(2.5, radius / 2.2)) // thinner ones would pass for white dots
    return { radius: Math.max(2, radius), color: noData, weight, fillColor: paper, fillOpacity: 1 }
  }
  const line = { color: dark.matches ? '#e8ecef' : '#1d2328', weight: 1, fillColor: lake.shown.color, fillOpacity: 1 }
  if (lake.shown.color !== lake.color) return { radius: Math.max(leastReported, radius), ...line }
  return { radius, stroke: zoom >= 8, ...line }
}

// nearest returns the lake nearest to a point of the map's element. Where lakes crowd, the topmost marker would be
// another one than the reader meant.
function nearest(map, lakes, point) {
  const corners = [point.subtract([reach, reach]), point.add([reach, reach])].map((p) => map.containerPointToLatLng(p))
  const around = L.latLngBounds(corners)
  let [best, least] = [null, reach]
  for (const lake of lakes) {
    if (!around.contains([lake.lat, lake.lon])) continue
    const distance = map.latLngToContainerPoint([lake.lat, lake.lon]).distanceTo(point)
    if (distance <= least) [best, least] = [lake, distance]
  }
  return best
}

function addTooltip(map, lakes) {
  if (!window.matchMedia('(hover: hover)').matches) return // a finger goes straight to the card
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
  map.on('mousemove', ({ containerPoint }) => point(nearest(map, lakes, containerPoint)))
  map.on('mouseout movestart popupopen', () => point(null))
}

function showCard(map, lake, closed) {
  const { x, y } = map.getSize()
  const legend = map.getContainer().querySelector('#legend')
  const content = card(lake)
  const popup = L.popup({
    minWidth: Math.min(230, x - 70),
    maxWidth: Math.min(300, x - 70),
    maxHeight: Math.max(120, y - 60), // longer ones scroll
    // Clear of the buttons and of the legend.
    autoPanPaddingTopLeft: wide() ? [56, 8] : [8, 8],
    autoPanPaddingBottomRight: wide() ? [legend.offsetWidth + 18, 8] : [8, legend.parentElement.offsetHeight + 8],
  })
    .setLatLng([lake.lat, lake.lon]).setContent(content)
  const mark = (open) => map.getContainer().classList.toggle('card-open', open)
  popup.on('add', () => mark(true)).on('remove', () => {
    mark(false)
    closed?.()
  })
  popup.openOn(map)
  const close = popup.getElement().querySelector('.leaflet-popup-close-button')
  close.setAttribute('aria-label', words.close)
  // Leaflet minds the Escape key only while the focus is on the map itself.
  popup.getElement().addEventListener('keydown', ({ key }) => { if (key === 'Escape') popup.close() })
  return content
}
