// The map and its basemap.
import * as L from 'leaflet'
import { element } from './dom.js'
import { note } from './note.js'
import { words } from './words.js'

const narrow = '(max-width: 56rem)' // where the legend would cover the map: it is folded then

/** Reports whether the page has room for an open legend beside the lakes. */
export const wide = () => !window.matchMedia(narrow).matches

/** Makes the map in the element with that id; `frame` of frame.js gives it its first view. */
export function createMap(id, config) {
  const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches
  const map = L.map(id, {
    minZoom: 2,
    maxZoom: config.max_zoom,
    zoomSnap: wide() ? 1 : 0.5, // a phone is often half a zoom too narrow for a country
    worldCopyJump: true,
    zoomControl: false,
    trackResize: false, // frame.js minds the size of the element itself
    zoomAnimation: !still,
    fadeAnimation: !still,
    inertia: !still,
  })
  // Leaflet has no option for the movements of the keyboard and of lakes that come into view.
  if (still) map.panBy = (offset, options) => L.Map.prototype.panBy.call(map, offset, { ...options, animate: false })
  const box = map.getContainer()
  box.onpointerdown = () => box.classList.add('by-pointer')
  box.onblur = () => box.classList.remove('by-pointer')
  map.attributionControl.setPrefix('')
  // A phone's legend takes the whole bottom.
  L.control.scale({ imperial: false, maxWidth: 70, position: wide() ? 'bottomleft' : 'topleft' }).addTo(map)
  return map
}

/** Adds the basemap, if there is one. Where none of its tiles come, the page says so once, quietly. */
export function addBasemap({ map, config: { basemap } }) {
  if (!basemap) return
  const options = { attribution: safe(basemap.attribution), maxNativeZoom: 19, maxZoom: 24, className: 'basemap' }
  const layer = L.tileLayer(basemap.url, options)
  layer.once('load', () => { // all have come or failed
    if (!layer.getContainer().querySelector('.leaflet-tile-loaded')) note(words.map.basemapFailed)
  })
  layer.addTo(map)
}

/** Makes an attribution safe to be put into the page: Leaflet takes it as markup. */
export const safe = (s) => element('span', {}, s).innerHTML
