// The map: its frame, the basemap and the heat layer.
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
  L.control.zoom({ zoomInTitle: words.zoomIn, zoomOutTitle: words.zoomOut }).addTo(map)
  L.control.scale({ imperial: false, position: wide() ? 'bottomleft' : 'topright' }).addTo(map)
  return map
}

/** Puts the legend into the corner of the map where it makes room for the attribution. */
export function placeLegend(map, box) {
  L.DomEvent.disableClickPropagation(box)
  L.DomEvent.disableScrollPropagation(box)
  const control = new L.Control({ position: 'bottomright' })
  control.onAdd = () => box
  control.addTo(map)
}

/** Shows all lakes, or where there are none what the tiles cover, clear of the legend. */
export function frame(map, lakes, tileJSON, legend) {
  const [west, south, east, north] = tileJSON.bounds
  const covered = L.latLngBounds([[south, west], [north, east]])
  const bounds = lakes.length > 0 ? L.latLngBounds(lakes.map((l) => [l.lat, l.lon])) : covered
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
  L.tileLayer(basemap.url, { attribution: text(basemap.attribution), maxNativeZoom: 19, maxZoom: 24, className: 'basemap' }).addTo(map)
}

/**
 * Adds the heat map of config.version, at twice the pixels on a screen that has them. The address is the page's own:
 * the TileJSON's may name the server by a host other than the one that the page was asked from, and the page's
 * Content-Security-Policy allows no other origin. A tile that fails is asked for again; `missing` is called when one
 * stays away, since a hole in the map must not pass for clear water.
 */
export function addHeat(map, tileJSON, config, missing) {
  const layer = L.tileLayer(`api/v1/tiles/{z}/{x}/{y}{r}.png?v=${encodeURIComponent(config.version)}`, {
    minZoom: tileJSON.minzoom,
    maxNativeZoom: tileJSON.maxzoom,
    maxZoom: 24,
    opacity: 0.85,
    attribution: text(ownAttribution(config)),
    className: 'heat',
  })
  layer.on('tileerror', ({ tile }) => retry(tile, missing))
  layer.addTo(map)
}

// ownAttribution is whom the data are owed to. The TileJSON's says the notice as well; here that stands above the map,
// in the reader's language.
const ownAttribution = ({ attribution, notice }) => (attribution === notice ? '' : attribution)

const mostTries = 4

function retry(tile, missing) {
  const tries = Number(tile.dataset.tries ?? 1)
  if (tries === mostTries) return missing()
  tile.dataset.tries = tries + 1
  setTimeout(() => {
    if (tile.isConnected) tile.src = tile.src // asks again
  }, 2000 * tries)
}

// text makes an attribution safe to be put into the page: Leaflet takes it as markup.
const text = (s) => element('span', {}, s).innerHTML
