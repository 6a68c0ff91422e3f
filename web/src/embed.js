// Maps in iframes on other pages: the code of the iframe, and the link from there to the full page.
import { element } from './dom.js'
import { formatView, round } from './viewurl.js'
import { language } from './words.js'

/** @import {ViewState} from './types' */

/** Reports whether this page is the map for iframes. */
export const embedded = () => document.body.matches('.embed')

/**
 * Returns the address of the full page with a view, also from within an iframe. It keeps the language if the address names one.
 * @param {ViewState} view
 */
export function pageAddress(view) {
  const query = new URLSearchParams(location.search).has('lang') ? `?lang=${language}` : ''
  return new URL(`./${query}${formatView(view)}`, location.href).href
}

/**
 * Returns the HTML of an iframe with the lake of a view, or else with this part of the map, in the style and language of this
 * page. It never contains the week: on another page it would look like the present one for years.
 * @param {ViewState} view
 * @param {import('leaflet').LatLngBounds} bounds
 * @param {string} title
 */
export function embedCode({ lake, style }, bounds, title) {
  const query = new URLSearchParams({ ...(lake ? { lake } : { bbox: bbox(bounds) }), ...(style && { style }), lang: language })
  const frame = element('iframe', { title, width: 600, height: 480, loading: 'lazy', allow: 'fullscreen' })
  frame.src = new URL(`embed?${query}`, location.href).href.replaceAll('%2C', ',')
  Object.assign(frame.style, { border: 0, maxWidth: '100%' })
  return frame.outerHTML
}

/**
 * Returns bounds as west,south,east,north. Bounds wider than the globe become the whole globe.
 * @param {Pick<import('leaflet').LatLngBounds, 'getSouthWest' | 'getNorthEast'>} bounds
 */
export function bbox(bounds) {
  const [southWest, northEast] = [bounds.getSouthWest(), bounds.getNorthEast()]
  const [west, east] = northEast.lng - southWest.lng < 360 ? [southWest.wrap().lng, northEast.wrap().lng] : [-180, 180]
  return [west, southWest.lat, east, northEast.lat].map((d) => round(d, 4)).join()
}
