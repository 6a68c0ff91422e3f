// Printing: the map as on the screen, as large as the sheet allows, with its legend open.
import { byId } from './dom.js'

/**
 * Prepares the page for printing. The browser does not wait for tiles then, so the map keeps its size and is scaled as a whole.
 * @param {Page} page
 */
export function addPrint({ map }) {
  const legend = byId('legend')
  const corner = legend.parentElement
  /** @type {any} */
  let closed = [] // details that are opened for printing
  const setOpen = (open) => { for (const details of closed) details.open = open }
  window.onbeforeprint = () => {
    const { x, y } = map.getSize()
    document.documentElement.style.cssText = `--map-width:${x};--map-height:${y}` // for print.css
    closed = document.querySelectorAll('#legend details:not([open]), #limits:not([open])')
    setOpen(true)
    byId('stage').after(legend)
  }
  window.onafterprint = () => {
    corner.prepend(legend) // above the attribution
    setOpen(false)
  }
}
