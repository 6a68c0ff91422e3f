// The symbols of lakes, for marks, list, card and legend. Colour, shape and sign each tell the risk without the others: a disc
// with a wave, a triangle with an exclamation mark, a diamond with a cross, a grey ring with a question mark for no value, and a
// black disc with a white bar for a closed lake. A badge with an exclamation mark says that the lake is worse than its colour, or that
// an authority warns. No symbol stands for "safe", which no value shows. index.html has their drawings, a body and a sign each, in
// tenths of the radius.
import { riskClass } from './classify.js'
import { byId } from './dom.js'

const fixedColours = { closed: '#16191c', none: '#9aa0a6' } // used for nothing else

/** Returns the drawing of a symbol. @param {string} name */
export const drawing = (name) => byId('symbols').content.querySelector(`.${name}`)

/** Returns the name of a lake's symbol, its colour, the colour of its sign, whether it looks old, and whether it has the badge.
 * @param {Pick<Lake, 'chl' | 'display' | 'old' | 'closed' | 'warned' | 'worse'>} lake */
export function symbolStyle(lake) {
  const name = riskClass(lake)
  const colour = fixedColours[name] ?? lake.display.color
  return {
    name, colour, sign: signColour(colour),
    old: !(name in fixedColours) && Boolean(lake.old), // the ring already says that there is no current value
    badge: name !== 'closed' && Boolean(lake.worse || lake.warned),
  }
}

/** Returns the symbol of a lake as an inline SVG, 1.25 em wide, for use next to text with the same meaning.
 * @param {Partial<Lake>} lake */
export function symbol(lake) {
  const { name, colour, sign, old, badge } = symbolStyle(/** @type {Lake} */ (lake))
  const s = drawing(name).cloneNode(true)
  if (badge) s.append(drawing('badge').cloneNode(true))
  s.classList.toggle('old', old)
  s.style.setProperty('--colour', colour)
  s.style.setProperty('--sign', sign)
  return s
}

// signColour returns white for dark colours and dark ink for light ones.
function signColour(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) ** 2.2)
  return 0.21 * r + 0.72 * g + 0.07 * b < 35_000 ? '#fff' : '#1d2328'
}
