import { request, tileJSON, escapeHTML, onRetry, ratio, server } from './limnomap.js'

const { Map, View } = ol // node_modules/ol/dist/ol.js; with a bundler: import Map from 'ol/Map.js' and so on

// Loads a tile, with retries. A tile that still fails is left out, so that no broken image is shown.
async function load(tile, url) {
  try {
    const image = tile.getImage()
    const picture = URL.createObjectURL(await request(url, 'blob'))
    for (const end of ['load', 'error']) image.addEventListener(end, () => URL.revokeObjectURL(picture), { once: true })
    image.src = picture
  } catch {
    tile.setState(3) // ol/TileState.js: ERROR
  }
}

const info = await tileJSON('tiles.json')
const heat = new ol.source.XYZ({
  // @2x is the same map at 512 pixels. With v= a browser requests a tile only once, until the data change.
  url: `${server}/api/v1/tiles/{z}/{x}/{y}${ratio === 2 ? '@2x' : ''}.png?v=${info.snapshot}`,
  tilePixelRatio: ratio,
  maxZoom: info.maxzoom, // beyond it, OpenLayers enlarges these tiles
  attributions: escapeHTML(info.attribution),
  attributionsCollapsible: false, // it may contain the notice about simulated data
  tileLoadFunction: load,
})
export const map = new Map({
  target: 'map',
  layers: [new ol.layer.Tile({ source: heat })],
  view: new View({ maxZoom: 22 }),
})
map.getView().fit(ol.proj.transformExtent(info.bounds, 'EPSG:4326', 'EPSG:3857'))
onRetry(() => heat.refresh())
