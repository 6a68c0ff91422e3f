import { AttributionControl, Map, NavigationControl, Popup, addProtocol } from './node_modules/maplibre-gl/dist/maplibre-gl.mjs'
import { request, tileJSON, escapeHTML, onRetry, showMessage, server } from './limnomap.js'

// MapLibre does not retry failed tiles. Addresses that begin with limnomap:// go through `request`, which does.
addProtocol('limnomap', async ({ url }, leave) => ({ data: await request(url.slice('limnomap://'.length), 'arrayBuffer', leave.signal) }))

const style = await request('style.json', 'json')
const info = { heat: await tileJSON('tiles.json'), lakes: await tileJSON('tiles/vector.json') }
for (const [id, source] of Object.entries(style.sources)) {
  // Replaces the server in the style. With v= a browser requests a tile only once, until the data change.
  source.tiles = source.tiles.map((url) => `limnomap://${server}${url.slice(url.indexOf('/api/v1/'))}?v=${info[id].snapshot}`)
  source.maxzoom = info[id].maxzoom // beyond it, MapLibre enlarges these tiles
  source.attribution = escapeHTML(info[id].attribution)
}

export const map = new Map({ container: 'map', style, bounds: info.heat.bounds, maxZoom: 22, attributionControl: false })
map.addControl(new AttributionControl({ compact: false }))
map.addControl(new NavigationControl())
map.on('error', ({ error, sourceId }) => { if (!sourceId) showMessage(`The map fails: ${error.message}`) }) // `request` reports those of tiles
map.on('mouseenter', 'lakes', () => { map.getCanvas().style.cursor = 'pointer' })
map.on('mouseleave', 'lakes', () => { map.getCanvas().style.cursor = '' })
map.on('click', 'lakes', ({ features: [{ geometry, properties }] }) => {
  new Popup().setLngLat(geometry.coordinates).setDOMContent(card(properties)).addTo(map)
})
onRetry(() => Object.keys(style.sources).forEach((id) => map.refreshTiles(id)))

// A missing property is unknown, never low. Texts are inserted as text, because a name may contain anything.
function card({ name, chl, risk, measured_at: measured, advisory }) {
  const box = document.createElement('div')
  const line = (tag, text) => box.append(Object.assign(document.createElement(tag), { textContent: text }))
  line('strong', name)
  if (advisory === 'closure') line('p', 'Closed for bathing by an official statement.')
  else if (advisory) line('p', `Official statement: ${advisory}.`)
  if (chl !== undefined) line('p', `${chl} µg/l chlorophyll-a, ${risk} risk. Measured ${age(measured)}.`)
  else if (measured) line('p', `No current value. The last, measured ${age(measured)}, was one of ${risk} risk.`)
  else line('p', 'There never was a value.')
  return box
}

function age(measured) {
  const days = Math.floor((Date.now() - Date.parse(measured)) / 86_400_000)
  return `on ${measured.slice(0, 10)}, ${days === 1 ? '1 day' : `${days} days`} ago`
}
