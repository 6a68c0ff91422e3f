// What the map has to say by itself, quietly: it stands on the map, so that it is seen in full screen too.
import { byId } from './dom.js'

const [text, close] = byId('note').children

/** Says something on the map until the reader closes it or there is something else to be said; nothing said ends it. */
export function note(said = '') {
  text.textContent = said
  close.hidden = said === ''
}

close.onclick = () => {
  note()
  byId('map').focus()
}
note()
