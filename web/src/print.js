// The page on paper: the map as it is on the screen, made as large as the sheet allows, with its legend unfolded.
import { byId } from './dom.js'

const widest = 690 // CSS px: what is left between the margins of A4 and of Letter, upright
const highest = 500 // and with room for the legend, lying too
const withCard = 300 // and for the card of a lake
const most = 2 // times as large as on the screen, whose pixels are seen then

/**
 * Readies the page for printing. The browser waits for no tile then; so the map keeps its size and is scaled as a
 * whole instead of being laid out anew, and what is printed is what was seen.
 */
export function addPrint({ map }) {
  let undo
  const print = (paper) => {
    if (paper) undo ??= prepare(map)
    else undo = undo?.()
  }
  window.onbeforeprint = () => print(true)
  window.onafterprint = () => print(false)
  window.matchMedia('print').onchange = ({ matches }) => print(matches)
}

// prepare returns a function that undoes it.
function prepare(map) {
  const { x, y } = map.getSize()
  const { style } = document.documentElement
  style.setProperty('--map-width', `${x}px`)
  style.setProperty('--map-height', `${y}px`)
  style.setProperty('--map-scale', Math.min(most, widest / x, (document.body.matches('.card-open') ? withCard : highest) / y))
  const legend = byId('legend')
  const corner = legend.parentElement
  const folds = [legend.querySelector('details'), byId('limits')].filter((fold) => !fold.open)
  const unfold = (open) => { for (const fold of folds) fold.open = open }
  unfold(true)
  byId('stage').after(legend)
  return () => {
    corner.prepend(legend) // above the attribution
    unfold(false)
  }
}
