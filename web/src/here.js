// The reader's position: asked for when they wish, shown, and kept in memory alone.
import * as L from 'leaflet'
import { byId } from './dom.js'
import { note } from './note.js'
import { fill, number, words } from './words.js'

const settings = { enableHighAccuracy: true, timeout: 15_000, maximumAge: 60_000 } // ms
const nearest = 12 // zoom

/**
 * Shows the reader's position at their request, where the browser gives it, and says why not where it does not. It becomes
 * page.here = {lat, lon, accuracy}, and the map fires 'here'. Nothing sends it; and the map moves to it only to a
 * hundredth of a degree, a kilometre or so, so that an address that is passed on does not tell where somebody stood.
 */
export function addLocate(page) {
  const { map } = page
  const button = byId('locate')
  const { geolocation } = navigator
  button.hidden = !geolocation
  map.createPane('here').style.zIndex = 620 // above the lakes, below their names
  const options = { pane: 'here', interactive: false, renderer: L.svg({ pane: 'here' }) } // takes no click from a lake
  const shapes = L.layerGroup().addTo(map)
  const found = ({ coords: { latitude: lat, longitude: lon, accuracy } }) => {
    page.here = { lat, lon, accuracy }
    const area = L.circle([lat, lon], { ...options, radius: accuracy, className: 'here-area' })
    shapes.clearLayers().addLayer(area).addLayer(L.circleMarker([lat, lon], { ...options, radius: 7, className: 'here-dot' }))
    map.setView([rounded(lat), rounded(lon)], Math.min(nearest, map.getBoundsZoom(area.getBounds())))
    note(fill(words.map.here, { n: number(Math.ceil(accuracy)) }))
    map.fire('here')
  }
  const failed = ({ code }) => note(words.map.hereFailed[window.isSecureContext ? code : 0])
  const then = (tell) => (answer) => {
    button.ariaBusy = 'false'
    tell(answer)
  }
  button.onclick = () => {
    if (button.ariaBusy === 'true') return
    button.ariaBusy = 'true'
    note(words.map.hereSought)
    geolocation.getCurrentPosition(then(found), then(failed), settings)
  }
}

const rounded = (degrees) => Math.round(degrees * 100) / 100
