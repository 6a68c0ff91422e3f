// The map: its frame and the basemap.
import * as L from 'leaflet'
import { element } from './dom.js'
import { words } from './words.js'

const narrow = '(max-width: 56rem)' // where the legend would cover the map: it is folded then

/** Reports whether the page has room for an open legend beside the lakes. */
export const wide = () => !window.matchMedia(narrow).matches

/** Makes the map in the element with that id; `frame` gives it its first view. */
export function createMap(id, config) {
  const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches
  const map = L.map(id, {
    minZoom: 2,
    maxZoom: config.max_zoom,
    zoomSnap: wide() ? 1 : 0.5, // a phone is often half a zoom too narrow for a country
    preferCanvas: true,
    worldCopyJump: true,
    zoomControl: false,
    zoomAnimation: !still,
    fadeAnimation: !still,
    markerZoomAnimation: !still,
    inertia: !still,
  })
  // Leaflet has no option for the movements of the keyboard and of cards that come into view.
  if (still) map.panBy = (offset, options) => L.Map.prototype.panBy.call(map, offset, { ...options, animate: false })
  const box = map.getContainer()
  box.addEventListener('pointerdown', () => box.classList.add('by-pointer'))
  box.addEventListener('blur', () => box.classList.remove('by-pointer'))
  // The list below takes its room from the map.
  new ResizeObserver(() => map.invalidateSize({ pan: false })).observe(box)
  map.attributionControl.setPrefix('')
  L.control.zoom({ zoomInTitle: words.map.zoomIn, zoomOutTitle: words.map.zoomOut }).addTo(map)
  L.control.scale({ imperial: false, position: wide() ? 'bottomleft' : 'topright' }).addTo(map)
  return map
}

/** Shows what the address asks for, else all lakes, or where there are none what the tiles cover, clear of the legend. */
export function frame({ map, view, status, tileJSON }) {
  const { lat, lon, zoom } = view.get()
  if (zoom !== null) {
    map.setView([lat, lon], zoom, { animate: false })
    return
  }
  const { lakes } = status.get()
  const [west, south, east, north] = tileJSON.bounds
  const covered = L.latLngBounds([[south, west], [north, east]])
  const bounds = lakes.length > 0 ? L.latLngBounds(lakes.map((l) => [l.lat, l.lon])) : covered
  const legend = document.getElementById('legend')
  map.fitBounds(bounds, {
    animate: false,
    maxZoom: 12, // a single lake is shown with its surroundings
    paddingTopLeft: [16, 16],
    paddingBottomRight: wide() ? [legend.offsetWidth + 24, 16] : [16, legend.offsetHeight + 32],
  })
}

/** Adds the basemap, if there is one. Tiles that fail leave the outlines to be seen. */
export function addBasemap(map, basemap) {
  if (!basemap) return
  L.tileLayer(basemap.url, { attribution: safe(basemap.attribution), maxNativeZoom: 19, maxZoom: 24, className: 'basemap' }).addTo(map)
}

/** Makes an attribution safe to be put into the page: Leaflet takes it as markup. */
export const safe = (s) => element('span', {}, s).innerHTML
