// The map in frames of other people's pages: the code that makes one, and the way from it to the whole page.
import { element } from './dom.js'
import { toHash } from './view.js'
import { language } from './words.js'

/** Reports whether this page is shown as a map for frames. */
export const embedded = () => document.body.matches('.embed')

/** The address of the page itself with that view, also from within a frame. A language that was asked for stays so. */
export function pageAddress(view) {
  const asked = new URLSearchParams(location.search).has('lang') ? `?lang=${language}` : ''
  return new URL(`./${asked}${toHash(view)}`, location.href).href
}

/**
 * The code of a frame that shows the lake of a view, or else this part of the map, in the style and language of this page.
 * Never its week: on somebody's page it would pass for the present one for years.
 */
export function embedCode({ lake, style }, bounds, title) {
  const query = new URLSearchParams({ ...(lake ? { lake } : { bbox: box(bounds) }), ...(style && { style }), lang: language })
  const frame = element('iframe', { title, width: 600, height: 480, loading: 'lazy', allow: 'fullscreen' })
  frame.src = new URL(`embed?${query}`, location.href).href.replaceAll('%2C', ',')
  Object.assign(frame.style, { border: 0, maxWidth: '100%' })
  return frame.outerHTML
}

// box writes a part of the map as west,south,east,north; one wider than the globe is all of it.
function box(bounds) {
  const [southWest, northEast] = [bounds.getSouthWest(), bounds.getNorthEast()]
  const [west, east] = northEast.lng - southWest.lng < 360 ? [southWest.wrap().lng, northEast.wrap().lng] : [-180, 180]
  return [west, southWest.lat, east, northEast.lat].map((d) => Number(d.toFixed(4))).join()
}
