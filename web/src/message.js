// The message bar: waiting for the server, and errors.
import { byId, element } from './dom.js'
import { words } from './words.js'

const box = byId('message')

/** Shows a message; an empty text hides it. */
export function showMessage(text = '') {
  box.replaceChildren(text)
  box.hidden = text === ''
}

/**
 * Says that the data could not be loaded, and offers to try again. A page that was offline tries again when it is online.
 * @param {Error} error
 * @param {() => void} retry
 */
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
