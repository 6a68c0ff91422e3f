// The map in frames of other people's pages: the code that makes one, and the way from it to the whole page.
import { element } from './dom.js'
import { toHash } from './view.js'
import { language, words } from './words.js'

/** Reports whether this page is shown as a map for frames. */
export const embedded = () => document.body.classList.contains('embed')

/** The address of the page itself with that view, also from within a frame. A language that was asked for stays so. */
export function pageAddress(view) {
  const address = new URL('./', location.href)
  if (new URLSearchParams(location.search).has('lang')) address.searchParams.set('lang', language)
  address.hash = toHash(view)
  return address.href
}

/** Adds the link that leads from the frame to the same view on the whole page. */
export function linkToPage(tools, view) {
  const link = element('a', { target: '_blank', rel: 'noopener', className: 'whole' }, words.embed.full)
  const follow = () => { link.href = pageAddress(view.get()) }
  follow()
  view.on(Object.keys(view.get()), follow)
  tools.replaceChildren(link)
}

/**
 * The code of a frame that shows the lake of a view, or else this part of the map, in the style and language of this page.
 * Never its week: on somebody's page it would pass for the present one for years.
 */
export function embedCode({ lake, style }, bounds, title) {
  const address = new URL('embed', new URL('./', location.href))
  const query = lake ? { lake } : { bbox: box(bounds) }
  if (style) query.style = style
  for (const [name, value] of Object.entries({ ...query, lang: language })) address.searchParams.set(name, value)
  const frame = element('iframe', { title, width: 600, height: 480, loading: 'lazy', allow: 'fullscreen' })
  frame.src = address.href.replaceAll('%2C', ',')
  Object.assign(frame.style, { border: 0, maxWidth: '100%' })
  return frame.outerHTML
}

// box writes a part of the map as west,south,east,north; one wider than the globe is all of it.
function box(bounds) {
  const turned = (lon) => ((lon + 180) % 360 + 360) % 360 - 180
  const [west, south, east, north] = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()]
  const wide = east - west >= 360
  const within = (lat) => Math.max(-90, Math.min(90, lat))
  return [wide ? -180 : turned(west), within(south), wide ? 180 : turned(east), within(north)].map((d) => Number(d.toFixed(4))).join()
}
