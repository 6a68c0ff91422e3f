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
  const legend = byId('legend')
  const corner = legend.parentElement
  let folds = []
  const unfold = (open) => { for (const fold of folds) fold.open = open }
  window.onbeforeprint = () => {
    const { x, y } = map.getSize()
    const scale = Math.min(most, widest / x, (document.body.matches('.card-open') ? withCard : highest) / y)
    document.documentElement.style = `--map-width: ${x}px; --map-height: ${y}px; --map-scale: ${scale}`
    folds = document.querySelectorAll('#legend details:not([open]), #limits:not([open])')
    unfold(true)
    byId('stage').after(legend)
  }
  window.onafterprint = () => {
    corner.prepend(legend) // above the attribution
    unfold(false)
  }
}
