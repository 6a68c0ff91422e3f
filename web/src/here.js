// The reader's position: asked for when they wish, shown, and kept in memory alone.
import * as L from 'leaflet'
import { byId } from './dom.js'
import { note } from './note.js'
import { fill, number, words } from './words.js'

const settings = { enableHighAccuracy: true, timeout: 15_000, maximumAge: 60_000 } // ms
const nearest = 12 // zoom

/**
 * Shows the reader's position at their request, where the browser gives it, and says why not where it does not. It becomes
 * page.here = {lat, lon}, and the map fires 'here'. Nothing sends it; and the map moves to it only to a
 * hundredth of a degree, a kilometre or so, so that an address that is passed on does not tell where somebody stood.
 */
export function addLocate(page) {
  const { map } = page
  const button = byId('locate')
  map.createPane('here').style.zIndex = 620 // above the lakes, below their names
  const shapes = L.layerGroup().addTo(map)
  const say = (busy, said) => {
    button.ariaBusy = busy
    note(said)
  }
  button.hidden = !navigator.geolocation
  button.onclick = () => {
    say(true, words.map.hereSought)
    map.locate(settings)
  }
  map.on('locationfound', ({ latlng, accuracy, bounds }) => {
    const { lat, lng } = latlng
    const options = { pane: 'here', interactive: false } // takes no click from a lake
    page.here = { lat, lon: lng }
    shapes.clearLayers()
      .addLayer(L.circle(latlng, { ...options, radius: accuracy, className: 'here-area' }))
      .addLayer(L.circleMarker(latlng, { ...options, radius: 7, className: 'here-dot' }))
    map.setView([lat.toFixed(2), lng.toFixed(2)], Math.min(nearest, map.getBoundsZoom(bounds)))
    say(false, fill(words.map.here, { n: number(Math.ceil(accuracy)) }))
    map.fire('here')
  })
  map.on('locationerror', ({ code }) => say(false, words.map.hereFailed[window.isSecureContext ? code : 0]))
}
