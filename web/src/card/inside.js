// The inside of a lake on its card: a picture of the pixels of the value, and how much of the water is affected.
import { element } from '../dom.js'
import { fill } from '../words.js'
import { isolated } from './entries.js'
import { cardWords } from './words.js'

/**
 * Shows the pixels of an entry of a lake, or nothing without any. A site has those of its water, and the names of the sites that were clearer.
 * @param {HTMLElement} figure @param {string} id @param {Entry | undefined | null} entry @param {{clearer: {name: string}[]} | undefined} water
 * @param {boolean} isNow whether the map is the current one, of which the clearer sites are
 */
export function showInside(figure, id, entry, water, isNow) {
  figure.hidden = !entry?.pixel_m
  if (figure.hidden) return
  const { share_low: low, share_medium: medium, share_high: high, pixel_m: metres } = entry
  const { heading, site, text, clearer } = cardWords.inside
  const percent = (share) => Math.round(100 * share)
  const names = isNow && water?.clearer.map(({ name }) => isolated(name)).join(', ')
  figure.replaceChildren(
    element('img', { alt: heading, width: 640, height: 400, onerror: () => { figure.hidden = true }, src: `api/v1/bathing-lakes/pixels/${encodeURIComponent(id)}?f=png&date=${entry.date}` }),
    element('figcaption', {}, water ? `${site} ` : '', fill(text, { low: percent(low), medium: percent(medium), high: percent(high), metres }), names ? ` ${fill(clearer, { names })}` : ''),
  )
}
