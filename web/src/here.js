// The reader's position: asked for when they wish, shown, and kept in memory alone.
import * as L from 'leaflet'
import { note } from './note.js'
import { fill, number, words } from './words.js'

const patience = 15_000 // ms to find it
const nearest = 12 // zoom

/**
 * Makes a function that finds the reader's position, where the browser gives it, and says why not where it does not.
 * It becomes page.here = {lat, lon, accuracy}, and the map fires 'here'. Nothing sends it; and the map moves to it only
 * to a hundredth of a degree, a kilometre or so, so that an address that is passed on does not tell where somebody stood.
 */
export function createLocate(page) {
  const { map } = page
  map.createPane('here').style.zIndex = 620 // above the lakes, below their names
  const options = { pane: 'here', interactive: false, renderer: L.svg({ pane: 'here' }) } // takes no click from a lake
  const shapes = L.layerGroup().addTo(map)
  const found = ({ coords: { latitude: lat, longitude: lon, accuracy } }) => {
    page.here = { lat, lon, accuracy }
    const area = L.circle([lat, lon], { ...options, radius: accuracy, className: 'here-area' })
    const dot = L.circleMarker([lat, lon], { ...options, radius: 7, className: 'here-dot' })
    shapes.clearLayers().addLayer(area).addLayer(dot)
    const zoom = Math.min(nearest, map.getBoundsZoom(area.getBounds()))
    map.setView([rounded(lat), rounded(lon)], Math.max(zoom, map.getMinZoom()))
    note(map, fill(words.map.here, { distance: distance(accuracy) }))
    map.fire('here')
  }
  const failed = ({ code }) => note(map, words.map.hereFailed[code] ?? words.map.hereFailed[2])
  return (done) => {
    if (!window.isSecureContext) {
      done()
      return note(map, words.map.hereInsecure)
    }
    note(map, words.map.hereSought)
    const then = (tell) => (answer) => {
      done()
      tell(answer)
    }
    navigator.geolocation.getCurrentPosition(then(found), then(failed), { enableHighAccuracy: true, timeout: patience, maximumAge: 60_000 })
  }
}

const rounded = (degrees) => Math.round(degrees * 100) / 100

const distance = (metres) => (metres < 1000 ? `${number(Math.ceil(metres))} m` : `${number(Math.ceil(metres / 1000))} km`)
