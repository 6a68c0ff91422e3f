// The buttons on the map: zoom, the reader's position, the whole screen and what is drawn.
import { byId } from './dom.js'
import { addLocate } from './here.js'
import { addLayers } from './layers.js'

/** Shows the buttons. Each is left out where the browser cannot do what it is for. */
export function addControls(page) {
  addZoom(page.map)
  addLocate(page)
  addFullScreen()
  addLayers(page)
  byId('controls').hidden = false
}

function addZoom(map) {
  for (const [id, step, last] of [['zoom-in', 1, map.getMaxZoom()], ['zoom-out', -1, map.getMinZoom()]]) {
    const button = byId(id)
    // A disabled button would lose the focus of who has just pressed it.
    const check = () => { button.ariaDisabled = map.getZoom() === last }
    button.onclick = () => map.zoomIn(step)
    map.on('zoomend', check)
    check()
  }
  // Many keyboards have the plus on a shifted key; Leaflet would take three steps at once for the shift.
  map.getContainer().addEventListener('keydown', (event) => {
    if (event.key !== '+' || !event.shiftKey) return
    event.stopPropagation()
    map.zoomIn(1)
  })
}

// addFullScreen shows the whole page, not the map alone: what the head says must be said at all times.
function addFullScreen() {
  const button = byId('full')
  button.hidden = !document.fullscreenEnabled
  button.onclick = () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(console.warn)
  document.onfullscreenchange = () => { button.ariaPressed = !!document.fullscreenElement }
}
