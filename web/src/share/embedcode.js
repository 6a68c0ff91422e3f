// The HTML that shows a map in another page.
import { element } from '../dom.js'
import { round } from '../view.js'
import { language } from '../words.js'

/**
 * Returns the HTML of an iframe with the lake of a view, or else with this part of the map, in the style, colours and language of
 * this page. It never contains the week: on another page it would look like the present one for years.
 * @param {ViewState} view @param {import('leaflet').LatLngBounds} bounds @param {string} title
 */
export function embedCode({ lake, style, colormap }, bounds, title) {
  const query = new URLSearchParams({ ...(lake ? { lake } : { bbox: bbox(bounds) }), ...(style && { style }), ...(colormap && { colormap }), lang: language })
  const frame = element('iframe', { title, width: 600, height: 480, loading: 'lazy', allow: 'fullscreen' })
  frame.src = new URL(`embed?${query}`, location.href).href.replaceAll('%2C', ',')
  Object.assign(frame.style, { border: 0, maxWidth: '100%' })
  return frame.outerHTML
}

/** Returns bounds as west,south,east,north. Bounds wider than the globe become the whole globe.
 * @param {Pick<import('leaflet').LatLngBounds, 'getSouthWest' | 'getNorthEast'>} bounds */
export function bbox(bounds) {
  const [southWest, northEast] = [bounds.getSouthWest(), bounds.getNorthEast()]
  const [west, east] = northEast.lng - southWest.lng < 360 ? [southWest.wrap().lng, northEast.wrap().lng] : [-180, 180]
  return [west, southWest.lat, east, northEast.lat].map((d) => round(d, 4)).join()
}
