// The heat map's tiles: their address, and new requests for those that failed or are late.
import { riskClasses } from './classify.js'

const maxTries = 4
const retryDelay = 2000 // ms, times the number of tries: longer than a Retry-After of the server
const lateAfter = 5000 // ms

/** Reports whether tiles of a style follow the filter of the view. @param {string | null} style */
export const isFiltered = (style) => ['dots', 'lakes', 'pixels'].includes(style)

/** Reports whether a style shows forecasts. @param {string} style */
export const showsForecasts = (style) => style !== 'dots' && style !== 'pixels'

/**
 * Returns the URL template for the week, style with its filter and colour map of a view and the version of the data. Defaults are left out,
 * so that a tile has one address and is cached once. A forecast has its own colours and version, and neither a filter nor all styles.
 * @param {Pick<ViewState, 'date' | 'style' | 'colormap' | 'risk' | 'forecast'>} view @param {Pick<Page, 'styles' | 'colormaps' | 'config'>} page
 */
export function tileURL(view, { styles, colormaps, config }) {
  const query = new URLSearchParams()
  const ahead = config.forecast && Number(view.forecast) // weeks
  if (view.date) query.set('date', view.date)
  for (const [name, list] of Object.entries({ style: styles.filter(({ id }) => !ahead || showsForecasts(id)), colormap: ahead ? [] : colormaps })) {
    if (list.some(({ id, default: standard }) => id === view[name] && !standard)) query.set(name, view[name])
  }
  const classes = riskClasses(view.risk)
  if (ahead) query.set('forecast', view.forecast)
  else if (isFiltered(query.get('style')) && classes[0] && !classes[4]) query.set('risk', classes.join())
  query.set('v', (ahead ? config.forecast : config).version)
  return `api/v1/tiles/{z}/{x}/{y}{r}.png?${query}`
}

/**
 * Requests failed tiles of a layer again, up to a maximum. A tile that has failed finally or is late gets the class `missing`;
 * then, and when it has loaded after all, `onChange` is called. `pending` holds the tiles that are requested again;
 * `retryMissing` requests missing tiles again.
 * @param {import('leaflet').TileLayer} layer @param {() => void} onChange
 */
export function retryTiles(layer, onChange) {
  const pending = new Set()
  const setMissing = (tile, missing) => {
    tile.classList.toggle('missing', missing)
    onChange()
  }
  const request = (tile) => {
    if (!tile.isConnected) return
    pending.add(tile)
    tile.src = tile.src
  }
  layer.on('tileloadstart', (/** @type {any} */ { tile }) => {
    tile.decoding = 'sync' // otherwise the first frame may lack it
    tile.late = setTimeout(setMissing, lateAfter, tile, true)
  })
  layer.on('tileerror', (/** @type {any} */ { tile }) => {
    tile.tries = ((tile.tries ?? 0) + 1) % maxTries
    if (tile.tries > 0) {
      pending.add(tile)
      setTimeout(request, retryDelay * tile.tries, tile)
    } else {
      pending.delete(tile)
      setMissing(tile, true)
    }
  })
  layer.on('tileload tileunload', (/** @type {any} */ { tile }) => {
    clearTimeout(tile.late)
    pending.delete(tile)
    setMissing(tile, false)
  })
  return { pending, retryMissing: () => layer.getContainer().querySelectorAll('.missing').forEach(request) }
}
