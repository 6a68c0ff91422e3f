// What becomes of a tile that failed.
const mostTries = 4
const longestWait = 30 // seconds, whatever Retry-After asks for

const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms) })

/**
 * Has the layer ask again for tiles that fail, a bounded number of times: `awaited` holds those that may still come.
 * One that does not is marked as missing, and `askAgain` asks for those again. `slow` is called when the server has had
 * too many requests, `changed` when a tile has been given up or has come after all. When one has been given up the layer
 * fires `load`, as when it has come.
 */
export function addAgain(layer, slow, changed) {
  layer.awaited = new Set()
  const failed = async (tile) => {
    const first = !layer.awaited.has(tile) // what can be had, and yet not be drawn, is no picture
    layer.awaited.add(tile)
    if (first && await available(tile, slow)) {
      tile.src = tile.src // from the browser's cache
      return
    }
    layer.awaited.delete(tile)
    if (!tile.isConnected) return
    tile.classList.add('missing')
    changed()
    layer.fire('load')
  }
  layer.askAgain = () => layer.getContainer().querySelectorAll('.missing').forEach(failed)
  layer.on('tileerror', ({ tile }) => { failed(tile) })
  layer.on('tileunload', ({ tile }) => layer.awaited.delete(tile))
  layer.on('tileload', ({ tile }) => {
    layer.awaited.delete(tile)
    if (!tile.matches('.missing')) return
    tile.classList.remove('missing')
    changed()
  })
}

async function available(tile, slow) {
  for (let tries = 1; tries < mostTries; tries++) {
    await wait(2000 * tries)
    if (!tile.isConnected) return false
    const answer = await fetch(tile.src).catch(() => null)
    if (answer?.ok && await answer.blob().catch(() => null)) return true
    if (answer?.status !== 429) continue
    slow()
    await wait(1000 * Math.min(longestWait, Number(answer.headers.get('Retry-After')) || 1))
  }
  return false
}
