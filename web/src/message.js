// Messages: the bar for waiting and errors, and short ones on the map, where they are visible in full screen.
import { byId, element, focusInPlace } from './dom.js'
import { words } from './words.js'

const box = byId('message')
const [toast, closeToast] = byId('toast').children

/** Shows a message in the bar; an empty text hides it. */
export function showMessage(text = '') {
  box.replaceChildren(text)
  box.hidden = text === ''
}

/** Says that the data could not be loaded, and offers to try again. A page that was offline tries again when it is online.
 * @param {Error} error @param {() => void} retry */
export function showLoadError(error, retry) {
  console.error(error)
  const onclick = () => {
    removeEventListener('online', onclick)
    showMessage()
    retry()
  }
  addEventListener('online', onclick)
  showMessage(navigator.onLine ? words.common.failed : words.common.offline)
  box.append(' ', element('button', { type: 'button', onclick }, words.common.tryAgain))
}

/** Returns an error message and a button to try again, for a card. The card keeps the focus when the button disappears.
 * @param {() => void} retry */
export const retryButton = (retry) => {
  const onclick = ({ target }) => {
    focusInPlace(target.closest('article'))
    retry()
  }
  return [`${words.common.failed} `, element('button', { type: 'button', onclick }, words.common.tryAgain)]
}

/** Shows a message on the map until the user closes it or another one comes; an empty message hides it. */
export function showToast(message = '') {
  toast.textContent = message
  closeToast.hidden = message === ''
}

closeToast.onclick = () => {
  showToast()
  byId('map').focus()
}
showToast()
