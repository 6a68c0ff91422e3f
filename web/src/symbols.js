// The symbol of a lake: what its marker, the list, its card and the legend show. Colour, shape and sign tell the risk,
// each without the others: a disc with a wave, a triangle with an exclamation mark, a square on its tip with a cross,
// and a grey ring with a question mark for no value. None promises safety: a satellite does not know that. The page's
// markup has them, each a body and a sign, in tenths of the radius.
import { byId } from './dom.js'

const noData = '#9aa0a6' // the one grey, and it stands for no data

/** The mark of a lake: low, medium or high as it is shown, none without a value, whatever its risk was then. */
export const markOf = (lake) => (lake.chl !== null && ['low', 'medium', 'high'].includes(lake.shown.risk) ? lake.shown.risk : 'none')

/** The drawing of a mark. */
export const drawing = (mark) => byId('symbols').content.querySelector(`.${mark}`)

/** How a lake's symbol looks: its mark, its colour, that of its sign, and whether it looks old. */
export function look(lake) {
  const mark = markOf(lake)
  const none = mark === 'none' // then all is old; the ring says that already
  const colour = none ? noData : lake.shown.color
  return { mark, colour, sign: signOn(colour), old: !none && Boolean(lake.old) }
}

/**
 * The symbol of a lake as an inline SVG, 1.25 em wide, beside text that says the same. It takes {chl, shown, old}:
 * anything that has them can have a symbol.
 */
export function symbol(lake) {
  const { mark, colour, sign, old } = look(lake)
  const s = drawing(mark).cloneNode(true)
  s.classList.toggle('old', old)
  s.style.setProperty('--colour', colour)
  s.style.setProperty('--sign', sign)
  return s
}

// signOn is what can be read on a colour: white on dark ones, ink on light ones.
function signOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) ** 2.2)
  return 0.21 * r + 0.72 * g + 0.07 * b < 35_000 ? '#fff' : '#1d2328'
}
