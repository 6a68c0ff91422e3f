// The buttons on the map: zoom, the reader's position, the whole screen and what is drawn.
import * as L from 'leaflet'
import { element } from './dom.js'
import { addFullScreen } from './fullscreen.js'
import { createLocate } from './here.js'
import { iconButton } from './icon.js'
import { addLayers } from './layers.js'
import { words } from './words.js'

/** Adds the buttons. Each is left out where the browser cannot do what it is for. */
export function addControls(page) {
  const { map } = page
  const box = element('div', { className: 'controls' })
  L.DomEvent.disableClickPropagation(box)
  L.DomEvent.disableScrollPropagation(box)
  addZoom(map, box)
  if (navigator.geolocation) addLocate(page, box)
  addFullScreen(page, box)
  addLayers(page, box)
  const control = new L.Control({ position: 'topright' })
  control.onAdd = () => box
  control.addTo(map)
  map.getContainer().addEventListener('keydown', (event) => {
    const { key, shiftKey, target, currentTarget } = event
    if (target !== currentTarget) return
    if (key === 'Escape') page.view.set({ lake: null })
    if (key !== '+' || !shiftKey) return
    // Many keyboards have the plus on a shifted key; Leaflet would take three steps at once for the shift.
    event.stopPropagation()
    map.zoomIn()
  })
}

function addZoom(map, box) {
  const step = (by) => ({ shiftKey }) => map.setZoom(Math.round(map.getZoom()) + by * (shiftKey ? 3 : 1))
  const closer = iconButton('zoom-in', words.map.zoomIn, step(1))
  const farther = iconButton('zoom-out', words.map.zoomOut, step(-1))
  // A disabled button would lose the focus of who has just pressed it.
  const limit = () => {
    closer.ariaDisabled = String(map.getZoom() >= map.getMaxZoom())
    farther.ariaDisabled = String(map.getZoom() <= map.getMinZoom())
  }
  map.on('zoomend', limit)
  limit()
  box.append(element('div', {}, closer, farther))
}

function addLocate(page, box) {
  const locate = createLocate(page)
  const button = iconButton('locate', words.map.locate, () => {
    if (button.ariaBusy === 'true') return
    button.ariaBusy = 'true'
    locate(() => { button.ariaBusy = 'false' })
  })
  box.append(element('div', {}, button))
}
