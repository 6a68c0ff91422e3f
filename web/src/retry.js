// What becomes of a tile that failed.
const mostTries = 4

/**
 * Has the layer ask again for tiles that fail, a bounded number of times: `awaited` holds those that may still come.
 * One that does not is marked as missing, and `askAgain` asks for those again. `slow` is called with each failure, as
 * the server may have had too many requests; `changed` when a tile has been given up or has come after all.
 */
export function addAgain(layer, slow, changed) {
  const awaited = layer.awaited = new Set()
  const ask = (tile) => {
    if (!tile.isConnected) return
    awaited.add(tile)
    tile.src = tile.src
  }
  layer.askAgain = () => layer.getContainer().querySelectorAll('.missing').forEach(ask)
  layer.on('tileerror', ({ tile }) => {
    tile.tries = (tile.tries ?? 0) + 1
    slow()
    const tries = tile.tries % mostTries
    if (tries > 0) {
      awaited.add(tile)
      setTimeout(ask, 2000 * tries, tile) // longer than a server that has enough asks for
      return
    }
    awaited.delete(tile)
    tile.classList.add('missing')
    changed()
  })
  layer.on('tileload tileunload', ({ tile }) => {
    awaited.delete(tile)
    if (!tile.matches('.missing')) return
    tile.classList.remove('missing')
    changed()
  })
}
