// The map and its basemap.
import { L } from './leaflet.js'
import { element } from './dom.js'
import { showToast } from './message.js'
import { words } from './words.js'

/** The media query of screens without room for an open legend and a list next to the map. */
export const narrow = '(max-width: 56rem)'

/** Reports whether the screen has room for them. */
export const isWide = () => !matchMedia(narrow).matches

/** Reports whether the user prefers reduced motion. */
export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches

/** Creates the map in the element with an id. mapposition.js sets its first view. @param {string} id @param {Config} config */
export function createMap(id, config) {
  const still = reducedMotion()
  const map = L.map(id, {
    minZoom: 2,
    maxZoom: config.max_zoom,
    zoomSnap: isWide() ? 1 : 0.25, // on a phone a country often fits only at a part of a zoom
    worldCopyJump: true,
    zoomControl: false,
    trackResize: false, // mapposition.js observes the size of the element
    zoomAnimation: !still,
    fadeAnimation: !still,
    inertia: !still,
  })
  // Leaflet has no option for the animation of keyboard moves and of panInside.
  if (still) map.panBy = (offset, options) => L.Map.prototype.panBy.call(map, offset, { ...options, animate: false })
  const box = map.getContainer()
  box.onpointerdown = () => box.classList.add('by-pointer')
  box.onblur = () => box.classList.remove('by-pointer')
  map.attributionControl.setPrefix('')
  // On a phone the legend needs the whole bottom edge.
  L.control.scale({ imperial: false, maxWidth: 70, position: isWide() ? 'bottomleft' : 'topleft' }).addTo(map)
  return map
}

/** Adds the basemap, if one is configured, and its labels, if they are a layer of their own, above the heat map. If none of its first tiles
 * loads, the page says so once. @param {Page} page */
export function addBasemap({ map, config: { basemap } }) {
  if (!basemap) return
  const options = { attribution: escapeHTML(basemap.attribution), maxNativeZoom: 19, maxZoom: 24, className: 'basemap' }
  const layer = L.tileLayer(basemap.url, options)
  if (basemap.labels_url) addOptional(map, L.tileLayer(basemap.labels_url, { ...options, zIndex: 3 }))
  layer.once('load', () => { // all tiles have loaded or failed
    if (!layer.getContainer().querySelector('.leaflet-tile-loaded')) showToast(words.map.basemapFailed)
  })
  addOptional(map, layer)
}

/** Adds a layer that the map can do without: if it throws, such as for an address that it cannot make, it is left out.
 * @param {import('leaflet').Map} map @param {import('leaflet').Layer} layer */
function addOptional(map, layer) {
  try {
    layer.addTo(map)
  } catch (error) {
    console.warn(error)
    layer.remove()
  }
}

/** Escapes a text for Leaflet's attributions, which are HTML. @param {string} text */
export const escapeHTML = (text) => element('span', {}, text).innerHTML
