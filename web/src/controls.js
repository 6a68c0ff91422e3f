// The buttons on the map: zoom, the reader's position, the whole screen and what is drawn.
import * as L from 'leaflet'
import { byId } from './dom.js'
import { addLocate } from './here.js'
import { addLayers } from './layers.js'

/** Shows the buttons. Each is left out where the browser cannot do what it is for. */
export function addControls(page) {
  const { map } = page
  const box = byId('controls')
  for (const e of [box, byId('note')]) {
    L.DomEvent.disableClickPropagation(e)
    L.DomEvent.disableScrollPropagation(e)
  }
  addZoom(map)
  addLocate(page)
  addFullScreen()
  addLayers(page)
  for (const button of box.querySelectorAll(':scope > button')) button.title = button.ariaLabel // icons alone are riddles
  box.hidden = false
}

function addZoom(map) {
  const closer = byId('zoom-in')
  const farther = byId('zoom-out')
  closer.onclick = () => map.zoomIn(1)
  farther.onclick = () => map.zoomOut(1)
  // A disabled button would lose the focus of who has just pressed it.
  const limit = () => {
    closer.ariaDisabled = map.getZoom() >= map.getMaxZoom()
    farther.ariaDisabled = map.getZoom() <= map.getMinZoom()
  }
  map.on('zoomend', limit)
  limit()
  // Many keyboards have the plus on a shifted key; Leaflet would take three steps at once for the shift.
  map.getContainer().addEventListener('keydown', (event) => {
    if (event.key !== '+' || !event.shiftKey) return
    event.stopPropagation()
    map.zoomIn(1)
  })
}

// addFullScreen shows the whole of main, and takes the head along: what it says must be said at all times.
function addFullScreen() {
  const button = byId('full')
  const main = document.querySelector('main')
  const head = document.querySelector('header')
  button.hidden = !document.fullscreenEnabled
  button.onclick = () => (document.fullscreenElement ? document.exitFullscreen() : main.requestFullscreen()).catch(console.warn)
  main.onfullscreenchange = () => {
    const full = document.fullscreenElement === main
    button.ariaPressed = full
    ;(full ? byId('stage') : document.body).prepend(head)
  }
}
