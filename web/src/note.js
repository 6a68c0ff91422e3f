// What the map has to say by itself, quietly: it stands on the map, so that it is seen in full screen too.
import * as L from 'leaflet'
import { element } from './dom.js'
import { words } from './words.js'

/** Says something on the map until the reader closes it or there is something else to be said; nothing said ends it. */
export function note(map, text = '') {
  const box = map.getContainer().querySelector('.map-note') ?? add(map)
  box.firstChild.textContent = text
  box.classList.toggle('said', text !== '')
}

// add makes the place for it; a screen reader reads what comes into one that is there already.
function add(map) {
  const close = () => {
    note(map)
    map.getContainer().focus()
  }
  const box = element('div', { className: 'map-note' },
    element('p', { role: 'status' }),
    element('button', { type: 'button', ariaLabel: words.common.close, onclick: close }, '×'))
  L.DomEvent.disableClickPropagation(box)
  map.getContainer().append(box)
  return box
}
