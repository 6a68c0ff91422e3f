// The user's position: requested by a button, or at the start if a button found it on an earlier visit, shown on the map, and kept only in memory.
import { L } from './leaflet.js'
import { byId } from './dom.js'
import { loadSearch } from './find.js'
import { showToast } from './message.js'
import { embedded } from './share.js'
import { store, stored } from './storage.js'
import { round } from './view.js'
import { fill, number, words } from './words.js'

const settings = { enableHighAccuracy: true, timeout: 15_000, maximumAge: 60_000 } // ms
const maxZoom = 12
const foundBefore = 'limnomap-located' // in the local storage: a button found the position

/**
 * Shows the user's position on request, or says why the browser does not provide it. Sets page.position, and the map fires
 * 'position'. The position is never sent. The map moves to it rounded to a hundredth of a degree, about a kilometre, so that
 * neither a shared address nor a request for the lakes around it tells where the user is. If the map has no lake there, it shows the nearest ones.
 * @param {Page} page
 */
export function addGeolocation(page) {
  const { map } = page
  const button = byId('locate')
  map.createPane('position').style.zIndex = '620' // above the marks
  const shapes = L.layerGroup().addTo(map)
  const show = (busy, message) => {
    button.ariaBusy = busy
    showToast(message)
  }
  for (const b of [button, byId('near')]) {
    b.hidden = !navigator.geolocation
    b.onclick = () => {
      show(true, words.map.positionSearch)
      map.locate(settings)
    }
  }
  // Who has asked for it before and still allows it sees the lakes nearby at once, unless the address says what to show. A permission alone is not
  // enough: the browser may have given it to the whole site for another page.
  const { zoom, lake } = page.view.get()
  if (zoom === null && lake === null && !embedded() && stored(foundBefore)) navigator.permissions?.query({ name: 'geolocation' }).then(({ state }) => state === 'granted' && button.click(), () => {})
  map.on('locationfound', ({ latlng, accuracy, bounds }) => {
    const { lat, lng } = latlng
    const options = { pane: 'position', interactive: false } // clicks go to the lakes
    page.position = { lat, lon: lng }
    store(foundBefore, 'yes')
    shapes.clearLayers()
      .addLayer(L.circle(latlng, { ...options, radius: accuracy, className: 'position-area' }))
      .addLayer(L.circleMarker(latlng, { ...options, radius: 7, className: 'position-dot' }))
    map.setView([round(lat, 2), round(lng, 2)], Math.min(maxZoom, map.getBoundsZoom(bounds)))
    const message = fill(words.map.position, { n: number(Math.ceil(accuracy)) })
    show(false, message)
    map.fire('position')
    loadSearch().then(({ showNearest }) => showNearest(page, page.position, message)).catch(console.warn)
  })
  map.on('locationerror', ({ code }) => show(false, words.map.positionErrors[isSecureContext ? code : 0]))
}
