// What becomes of a tile that fails, or does not come.
const mostTries = 4
const patience = 5000 // ms

/**
 * Has the layer ask again for tiles that fail, a bounded number of times: `awaited` holds those that may still come.
 * One that does not, or not yet after a while, is marked as missing; `askAgain` asks for those again. `changed` is called
 * when there may be more or less missing.
 */
export function addAgain(layer, changed) {
  const awaited = layer.awaited = new Set()
  const mark = (tile, missing) => {
    tile.classList.toggle('missing', missing)
    changed()
  }
  const ask = (tile) => {
    if (!tile.isConnected) return
    awaited.add(tile)
    tile.src = tile.src
  }
  layer.askAgain = () => layer.getContainer().querySelectorAll('.missing').forEach(ask)
  layer.on('tileloadstart', ({ tile }) => {
    tile.decoding = 'sync' // else the first picture shown may lack it
    tile.late = setTimeout(mark, patience, tile, true)
  })
  layer.on('tileerror', ({ tile }) => {
    tile.tries = (tile.tries ?? 0) + 1
    const tries = tile.tries % mostTries
    if (tries > 0) {
      awaited.add(tile)
      setTimeout(ask, 2000 * tries, tile) // longer than a server that has enough asks for
    } else {
      awaited.delete(tile)
      mark(tile, true)
    }
  })
  layer.on('tileload tileunload', ({ tile }) => {
    clearTimeout(tile.late)
    awaited.delete(tile)
    mark(tile, false)
  })
}
