import * as L from './node_modules/leaflet/dist/leaflet-src.esm.js'
import { ask, describe, html, onAgain, server } from './limnomap.js'

// A tile layer that asks again for what fails, and shows no broken picture: a tile without lakes is a transparent one.
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
  tile.src = URL.createObjectURL(await ask(url, 'blob', signal))
  try {
    await tile.decode()
  } finally {
    URL.revokeObjectURL(tile.src)
  }
}

const info = await describe('tiles.json')
const [west, south, east, north] = info.bounds
export const map = L.map('map', { maxZoom: 22 }).fitBounds([[south, west], [north, east]])
// {r} is @2x on a screen with small pixels. With v= a browser asks only once for a tile, until the data change.
const heat = new Heat(`${server}/api/v1/tiles/{z}/{x}/{y}{r}.png?v=${info.snapshot}`, {
  maxNativeZoom: info.maxzoom, // beyond, Leaflet enlarges these
  maxZoom: 22,
  attribution: html(info.attribution),
})
heat.on('tileunload', ({ tile }) => tile.leave.abort())
heat.addTo(map)
onAgain(() => heat.redraw())
