// A short message on the map. It lies on the map so that it is visible in full screen.
import { byId } from './dom.js'

const [text, close] = byId('toast').children

/** Shows a message until the user closes it or another one comes; an empty message hides it. */
export function showToast(message = '') {
  text.textContent = message
  close.hidden = message === ''
}

close.onclick = () => {
  showToast()
  byId('map').focus()
}
showToast()
