// The symbol of a lake: what its marker, the list, its card and the legend show.
import { element } from './dom.js'

/** The symbol of a lake beside text that says the same. */
export function symbol(lake) {
  const none = lake.chl === null
  const s = element('span', { className: none ? 'swatch none' : 'swatch', ariaHidden: 'true' })
  s.style.setProperty('--colour', none ? lake.color : lake.shown.color)
  return s
}
