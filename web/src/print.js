// The page on paper: the map as it is on the screen, made as large as the sheet allows, with its legend unfolded.
import { byId } from './dom.js'

/**
 * Readies the page for printing. The browser waits for no tile then; so the map keeps its size and is scaled as a
 * whole instead of being laid out anew, and what is printed is what was seen.
 */
export function addPrint({ map }) {
  const legend = byId('legend')
  const corner = legend.parentElement
  let folds = []
  const unfold = (open) => { for (const fold of folds) fold.open = open }
  window.onbeforeprint = () => {
    const { x, y } = map.getSize()
    document.documentElement.style = `--map-width: ${x}; --map-height: ${y}` // print.css scales it
    folds = document.querySelectorAll('#legend details:not([open]), #limits:not([open])')
    unfold(true)
    byId('stage').after(legend)
  }
  window.onafterprint = () => {
    corner.prepend(legend) // above the attribution
    unfold(false)
  }
}
