// The inside of a lake on its card: a picture of the pixels of the value, and how much of the water is affected.
import { element } from '../dom.js'
import { fill } from '../words.js'
import { cardWords } from './words.js'

/** Shows the pixels of an entry of a lake, or nothing without any. @param {HTMLElement} figure @param {string} id @param {Entry | undefined | null} entry */
export function showInside(figure, id, entry) {
  figure.hidden = !entry?.pixel_m
  if (figure.hidden) return
  const { share_low: low, share_medium: medium, share_high: high, pixel_m: metres } = entry
  const [heading, percent] = [cardWords.inside.heading, (share) => Math.round(100 * share)]
  figure.replaceChildren(
    element('img', { alt: heading, width: 640, height: 400, onerror: () => { figure.hidden = true }, src: `api/v1/bathing-lakes/pixels/${encodeURIComponent(id)}?f=png&date=${entry.date}` }),
    element('figcaption', {}, fill(cardWords.inside.text, { low: percent(low), medium: percent(medium), high: percent(high), metres })),
  )
}
