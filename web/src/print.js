// The page on paper: the map as it is on the screen, made as large as the sheet allows, with its legend unfolded.

const widest = 690 // CSS px: what is left between the margins of A4 and of Letter, upright
const highest = 560 // and with room for the legend, lying too
const most = 2 // times as large as on the screen, whose pixels are seen then

/**
 * Readies the page for printing. The browser waits for no tile then; so the map keeps its size and is scaled as a
 * whole instead of being laid out anew, and what is printed is what was seen.
 */
export function addPrint({ map }) {
  let undo = null
  const before = () => { undo ??= prepare(map) }
  const after = () => {
    undo?.()
    undo = null
  }
  window.addEventListener('beforeprint', before)
  window.addEventListener('afterprint', after)
  window.matchMedia('print').addEventListener('change', ({ matches }) => (matches ? before() : after()))
}

function prepare(map) {
  const { x, y } = map.getSize()
  const style = document.documentElement.style
  style.setProperty('--map-width', `${x}px`)
  style.setProperty('--map-height', `${y}px`)
  style.setProperty('--map-scale', Math.min(most, widest / x, highest / y))
  const legend = document.getElementById('legend')
  const corner = legend.parentElement
  const next = legend.nextSibling
  const folds = [...legend.querySelectorAll('details'), document.getElementById('limits')].filter((d) => !d.open)
  for (const fold of folds) fold.open = true
  document.getElementById('stage').after(legend)
  return () => {
    corner.insertBefore(legend, next)
    for (const fold of folds) fold.open = false
  }
}
