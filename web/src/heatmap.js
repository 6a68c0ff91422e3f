// The heat map: the tiles of the week that is shown, and hidden behind them the tiles of the next weeks.
import { L } from './leaflet.js'
import { byId } from './dom.js'
import { isFiltered, retryTiles, tileURL } from './tiles.js'

/** The default opacity of the heat map in %. */
export const defaultOpacity = 85

const msPerTile = 15 // between two weeks: two thirds of the default limit of 6000 tiles a minute

/**
 * Adds the heat map. Its tiles have the origin of the page, because the TileJSON may name another host, which the page's
 * Content-Security-Policy forbids. Another week is shown when all its tiles have loaded, together with its lakes. Failed tiles
 * are requested again; while some are missing the page shows a warning, since a hole in the map must not look like clean water.
 *
 * Sets page.heatmap: `prefetch` loads the tiles of the given dates and drops those prefetched before; `minInterval` is the
 * least time in ms between two weeks that stays below the server's rate limit.
 * @param {Page} page
 */
export function addHeatmap(page) {
  const { map, view, store, config, tileJSON } = page
  const layers = new Map() // by URL: the week shown, the week requested and the weeks prefetched
  let shown
  let dates = []
  const opacity = () => (view.get().opacity ?? defaultOpacity) / 100
  const updateWarning = () => { byId('missing-tiles').hidden = !shown.layer.getContainer().querySelector('.missing') }
  const add = (url) => {
    const layer = L.tileLayer(url, {
      minZoom: tileJSON.minzoom,
      maxNativeZoom: tileJSON.maxzoom,
      maxZoom: 24,
      opacity: opacity(),
      zIndex: 2, // above the basemap
      attribution: config.attribution_html,
      className: `heatmap-next${url.includes('forecast=') ? ' ahead-tiles' : ''}`,
    })
    const retries = retryTiles(layer, updateWarning)
    layer.addTo(map)
    return { layer, retries }
  }
  const layerOf = (date) => {
    const url = tileURL({ ...view.get(), date }, page)
    if (!layers.has(url)) layers.set(url, add(url))
    return layers.get(url)
  }
  const removeUnused = () => {
    const used = [shown, ...[view.get().date, ...dates].map(layerOf)]
    for (const [url, entry] of layers) {
      if (used.includes(entry)) continue
      layers.delete(url)
      entry.layer.remove()
    }
  }
  const show = (entry) => {
    entry.layer.getContainer().classList.replace('heatmap-next', 'heatmap')
    shown = entry
    removeUnused()
    updateWarning()
  }
  store.beforeShow(async (date) => {
    const entry = layerOf(date)
    removeUnused()
    if (entry !== shown) {
      entry.retries.retryMissing() // some tiles may have failed before
      await loaded(entry)
    }
    return () => show(entry)
  })
  view.on(['risk'], ({ style }) => { if (isFiltered(style)) store.reload() })
  view.on(['opacity'], () => layers.forEach(({ layer }) => layer.setOpacity(opacity())))
  addEventListener('online', () => shown.retries.retryMissing())
  show(layerOf(view.get().date))
  page.heatmap = {
    prefetch: (next) => {
      dates = next
      removeUnused()
    },
    minInterval: () => msPerTile * tilesOf(shown.layer).length,
  }
}

// loaded waits until all tiles of a hidden layer have loaded or failed, or until the layer is removed. Leaflet fires `load`
// after the last failure too.
async function loaded({ layer, retries }) {
  const isPending = () => layer.getContainer() && (layer.isLoading() || retries.pending.size > 0)
  while (isPending()) await new Promise((resolve) => { layer.once('load remove', resolve) })
  const tiles = tilesOf(layer)
  if (tiles.length > 0 && tiles.every((tile) => tile.matches('.missing'))) throw new Error('no tile loaded')
}

const tilesOf = (layer) => [...layer.getContainer()?.querySelectorAll('img') ?? []]
