import { AttributionControl, Map, NavigationControl, Popup, addProtocol } from './node_modules/maplibre-gl/dist/maplibre-gl.mjs'
import { ask, describe, html, onAgain, say, server } from './limnomap.js'

// MapLibre does not ask again for a tile that fails. Addresses that begin with limnomap:// go through `ask`, which does.
addProtocol('limnomap', async ({ url }, leave) => ({ data: await ask(url.slice('limnomap://'.length), 'arrayBuffer', leave.signal) }))

const style = await ask('style.json', 'json')
const info = { heat: await describe('tiles.json'), lakes: await describe('tiles/vector.json') }
for (const [id, source] of Object.entries(style.sources)) {
  // Whatever server the style names. With v= a browser asks only once for a tile, until the data change.
  source.tiles = source.tiles.map((url) => `limnomap://${server}${url.slice(url.indexOf('/api/v1/'))}?v=${info[id].snapshot}`)
  source.maxzoom = info[id].maxzoom // beyond, MapLibre enlarges these
  source.attribution = html(info[id].attribution)
}

export const map = new Map({ container: 'map', style, bounds: info.heat.bounds, maxZoom: 22, attributionControl: false })
map.addControl(new AttributionControl({ compact: false }))
map.addControl(new NavigationControl())
map.on('error', ({ error, sourceId }) => { if (!sourceId) say(`The map fails: ${error.message}`) }) // of tiles, `ask` tells
map.on('mouseenter', 'lakes', () => { map.getCanvas().style.cursor = 'pointer' })
map.on('mouseleave', 'lakes', () => { map.getCanvas().style.cursor = '' })
map.on('click', 'lakes', ({ features: [{ geometry, properties }] }) => {
  new Popup().setLngLat(geometry.coordinates).setDOMContent(card(properties)).addTo(map)
})
onAgain(() => Object.keys(style.sources).forEach((id) => map.refreshTiles(id)))

// What a lake's properties lack is not known, and never low. Texts go in as text: a name may hold anything.
function card({ name, chl, risk, measured_at: measured }) {
  const box = document.createElement('div')
  const line = (tag, text) => box.append(Object.assign(document.createElement(tag), { textContent: text }))
  line('strong', name)
  if (chl !== undefined) line('p', `${chl} µg/l chlorophyll-a, ${risk} risk. Measured ${age(measured)}.`)
  else if (measured) line('p', `No current value. The last, measured ${age(measured)}, was one of ${risk} risk.`)
  else line('p', 'There never was a value.')
  return box
}

function age(measured) {
  const days = Math.floor((Date.now() - Date.parse(measured)) / 86_400_000)
  return `on ${measured.slice(0, 10)}, ${days === 1 ? '1 day' : `${days} days`} ago`
}
