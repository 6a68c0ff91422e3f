// Printing: the map as on the screen, as large as the sheet allows, with its legend open.
import { byId } from '../dom.js'

/**
 * Prepares the page for printing. The browser does not wait for tiles then, so the map keeps its size and is scaled as a whole. Its
 * marks and labels are drawn again, dark on light, and so large that the text has 8 points on the sheet.
 * @param {Page} page
 */
export function addPrint(page) {
  const { map, redrawMarks } = page
  const legend = byId('legend')
  const corner = legend.parentElement
  const root = document.documentElement.style
  /** @type {any} */
  let closed = [] // details that are opened for printing
  const setOpen = (open) => { for (const details of closed) details.open = open }
  window.onbeforeprint = () => {
    page.printing = true // the map keeps its tiles while the page around it changes
    const { x, y } = map.getSize()
    const [width, height] = document.body.matches('.card-open') ? [470, 280] : [690, 520] // px on a sheet at least, see print.css
    root.cssText = `--map-width:${x};--map-height:${y};--paper:#fff;--ink:#000;--label:${Math.max(12, 10.7 * Math.max(x / width, y / height))}`
    redrawMarks()
    closed = document.querySelectorAll('#legend details:not([open]), #limits:not([open]), #card article > details:not([open])')
    setOpen(true)
    byId('stage').after(legend)
  }
  window.onafterprint = () => {
    root.cssText = ''
    redrawMarks()
    corner.prepend(legend) // above the attribution
    setOpen(false)
    requestAnimationFrame(() => { page.printing = false })
  }
}
