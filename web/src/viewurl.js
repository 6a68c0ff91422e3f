// The view as a part of the page's address.

/** @import {ViewState} from './types' */

const maxLength = 64 // of a value

/**
 * Rounds a number to a number of decimals.
 * @param {number} value
 * @param {number} decimals
 */
export const round = (value, decimals) => Number(value.toFixed(decimals))

/**
 * Returns the view as a URL fragment: #map=6/51.1000/10.4000&lake=de_by_starnberger_see.
 * @param {ViewState} view
 */
export function formatView({ lat, lon, zoom, ...rest }) {
  const map = zoom === null ? {} : { map: [round(zoom, 2), lat.toFixed(4), lon.toFixed(4)].join('/') }
  const parts = Object.entries({ ...map, ...rest }).filter(([, value]) => value !== null)
  return parts.length > 0 ? `#${parts.map(([name, value]) => `${name}=${encodeURI(/** @type {string} */ (value)).replaceAll(/[&#+]/g, encodeURIComponent)}`).join('&')}` : ''
}

/**
 * Returns the valid fields of a view from a query or from a fragment without its #. Whether a lake, style or week exists is
 * checked where it is used.
 * @param {string} text
 * @returns {Partial<ViewState>}
 */
export function parseView(text) {
  const query = new URLSearchParams(text)
  /** @type {Partial<ViewState>} */
  const view = {}
  for (const name of ['date', 'style', 'lake', 'risk']) {
    const value = query.get(name)
    if (value && value.length <= maxLength) view[name] = value
  }
  const opacity = Number(query.get('opacity') || NaN)
  if (opacity >= 0 && opacity <= 100) view.opacity = opacity
  const [zoom, lat, lon] = (query.get('map') ?? '').split('/').map(Number)
  if (zoom >= 0 && zoom <= 24 && Math.abs(lat) <= 90 && Math.abs(lon) <= 180) Object.assign(view, { zoom, lat, lon })
  return view
}
