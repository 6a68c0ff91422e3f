// The buttons on the map: zoom, the user's position, full screen and layers.
import { byId } from './dom.js'
import { addGeolocation } from './geolocation.js'
import { addLayerPanel } from './layerpanel.js'

/** Shows the buttons that the browser supports. @param {Page} page */
export function addControls(page) {
  addZoom(page.map)
  addGeolocation(page)
  addFullScreen()
  addLayerPanel(page)
  byId('controls').hidden = false
}

function addZoom(map) {
  for (const [id, step, limit] of [['zoom-in', 1, map.getMaxZoom()], ['zoom-out', -1, map.getMinZoom()]]) {
    const button = byId(id)
    // aria-disabled, because a button with `disabled` would lose the focus.
    const update = () => { button.ariaDisabled = map.getZoom() === limit }
    button.onclick = () => map.zoomIn(step)
    map.on('zoomend', update)
    update()
  }
  // On many keyboards the plus needs the shift key, with which Leaflet would zoom by three steps.
  map.getContainer().addEventListener('keydown', (event) => {
    if (event.key !== '+' || !event.shiftKey) return
    event.stopPropagation()
    map.zoomIn(1)
  })
}

// addFullScreen shows the whole page and not only the map, because the notices in the header must stay visible.
function addFullScreen() {
  const button = byId('full-screen')
  button.hidden = !document.fullscreenEnabled
  button.onclick = () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(console.warn)
  document.onfullscreenchange = () => { button.ariaPressed = !!document.fullscreenElement }
}
