// The lakes on the map: a marker for each.
import * as L from 'leaflet'
import { summary } from './lake.js'

const noData = '#9aa0a6' // the one grey, and it stands for no data
const dark = window.matchMedia('(prefers-color-scheme: dark)')
const paper = '#ffffff'
const leastReported = 5 // px, the least radius of a lake of which worse was reported than its chlorophyll tells
const reach = 14 // px around the pointer: a target of 28 px, wherever and however small the marker

/** Adds the markers, and keeps them to the lakes that are shown. */
export function addMarkers(page) {
  const { map, view, status } = page
  const layer = L.layerGroup().addTo(map)
  let markers = []
  const draw = ({ lakes }) => {
    layer.clearLayers()
    markers = lakes.toSorted((a, b) => rank(a) - rank(b) || a.chl - b.chl).map((lake) => (
      { lake, circle: L.circleMarker([lake.lat, lake.lon], { interactive: false, ...look(lake, map.getZoom()) }).addTo(layer) }
    ))
  }
  draw(status.get())
  status.on(draw)
  const restyle = () => markers.forEach(({ lake, circle }) => circle.setStyle(look(lake, map.getZoom())))
  map.on('zoomend', restyle)
  dark.addEventListener('change', restyle)
  map.on('markers', () => { page.markersShown ? layer.addTo(map) : layer.remove() })
  map.on('click', ({ containerPoint }) => {
    if (!page.markersShown) return
    const lake = nearest(map, status.get().lakes, containerPoint)
    if (lake) view.set({ lake: lake.id })
  })
  addTooltip(map, status)
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

function addTooltip(map, status) {
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
  map.on('mousemove', ({ containerPoint }) => point(nearest(map, status.get().lakes, containerPoint)))
  map.on('mouseout movestart', () => point(null))
}
