import * as L from './node_modules/leaflet/dist/leaflet-src.esm.js'
import { request, tileJSON, escapeHTML, onRetry, server } from './limnomap.js'

// A tile layer that retries failed tiles and shows no broken images: a tile without lakes is a transparent image.
const Heat = L.TileLayer.extend({
  createTile(coords, done) {
    const tile = L.DomUtil.create('img')
    tile.alt = ''
    tile.leave = new AbortController()
    const { signal } = tile.leave
    fill(tile, this.getTileUrl(coords), signal).then(() => done(null, tile), (error) => signal.aborted || done(error, tile))
    return tile
  },
})

async function fill(tile, url, signal) {
  tile.src = URL.createObjectURL(await request(url, 'blob', signal))
  try {
    await tile.decode()
  } finally {
    URL.revokeObjectURL(tile.src)
  }
}

const info = await tileJSON('tiles.json')
const [west, south, east, north] = info.bounds
export const map = L.map('map', { maxZoom: 22 }).fitBounds([[south, west], [north, east]])
// {r} is @2x on a high-resolution screen. With v= a browser requests a tile only once, until the data change.
const heat = new Heat(`${server}/api/v1/tiles/{z}/{x}/{y}{r}.png?v=${info.snapshot}`, {
  maxNativeZoom: info.maxzoom, // beyond it, Leaflet enlarges these tiles
  maxZoom: 22,
  attribution: escapeHTML(info.attribution),
})
heat.on('tileunload', ({ tile }) => tile.leave.abort())
heat.addTo(map)
onRetry(() => heat.redraw())
