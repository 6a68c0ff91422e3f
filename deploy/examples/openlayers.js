import { ask, describe, html, onAgain, ratio, server } from './limnomap.js'

const { Map, View } = ol // node_modules/ol/dist/ol.js; with a bundler: import Map from 'ol/Map.js' and so on

// Loads a tile and asks again for one that fails. One that stays away is left out: no broken picture.
async function load(tile, url) {
  try {
    const image = tile.getImage()
    const picture = URL.createObjectURL(await ask(url, 'blob'))
    for (const end of ['load', 'error']) image.addEventListener(end, () => URL.revokeObjectURL(picture), { once: true })
    image.src = picture
  } catch {
    tile.setState(3) // ol/TileState.js: ERROR
  }
}

const info = await describe('tiles.json')
const heat = new ol.source.XYZ({
  // @2x is the same map at 512 pixels. With v= a browser asks only once for a tile, until the data change.
  url: `${server}/api/v1/tiles/{z}/{x}/{y}${ratio === 2 ? '@2x' : ''}.png?v=${info.snapshot}`,
  tilePixelRatio: ratio,
  maxZoom: info.maxzoom, // beyond, OpenLayers enlarges these
  attributions: html(info.attribution),
  attributionsCollapsible: false, // it may have to say that the data are simulated
  tileLoadFunction: load,
})
export const map = new Map({
  target: 'map',
  layers: [new ol.layer.Tile({ source: heat })],
  view: new View({ maxZoom: 22 }),
})
map.getView().fit(ol.proj.transformExtent(info.bounds, 'EPSG:4326', 'EPSG:3857'))
onAgain(() => heat.refresh())
