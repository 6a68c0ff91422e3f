// The heat map: the layer of tiles that shows the values.
import * as L from 'leaflet'
import { safe } from './map.js'
import { words } from './words.js'

/**
 * Adds the heat map of config.version, at twice the pixels on a screen that has them. The address is the page's own:
 * the TileJSON's may name the server by a host other than the one that the page was asked from, and the page's
 * Content-Security-Policy allows no other origin. A tile that fails is asked for again; the page says it when one
 * stays away, since a hole in the map must not pass for clear water.
 */
export function addHeat({ map, tileJSON, config, say }) {
  const layer = L.tileLayer(`api/v1/tiles/{z}/{x}/{y}{r}.png?v=${encodeURIComponent(config.version)}`, {
    minZoom: tileJSON.minzoom,
    maxNativeZoom: tileJSON.maxzoom,
    maxZoom: 24,
    opacity: 0.85,
    attribution: safe(ownAttribution(config)),
    className: 'heat',
  })
  layer.on('tileerror', ({ tile }) => retry(tile, () => say(words.heat.missing)))
  layer.addTo(map)
}

// ownAttribution is whom the data are owed to. The TileJSON's says the notice as well; here that stands above the map,
// in the reader's language.
const ownAttribution = ({ attribution, notice }) => (attribution === notice ? '' : attribution)

const mostTries = 4

function retry(tile, missing) {
  const tries = Number(tile.dataset.tries ?? 1)
  if (tries === mostTries) return missing()
  tile.dataset.tries = tries + 1
  setTimeout(() => {
    if (tile.isConnected) tile.src = tile.src // asks again
  }, 2000 * tries)
}
