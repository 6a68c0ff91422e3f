// Messages: the bar for waiting and errors, and short ones on the map, where they are visible in full screen.
import { byId, element, focusInPlace } from './dom.js'
import { words } from './words.js'

const toastTime = 20_000 // ms for some hundred characters, also for slow readers; not while the pointer or the focus is in the message

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

let toastTimer

/** Shows a message on the map until the user closes it, another one comes, or it has been read; an empty message hides it. */
export function showToast(message = '') {
  toast.textContent = message
  closeToast.hidden = message === ''
  clearTimeout(toastTimer)
  if (message) hideToastLater()
}

function hideToastLater() {
  toastTimer = setTimeout(() => {
    if (toast.parentElement.matches(':hover, :focus-within')) hideToastLater()
    else showToast()
  }, toastTime)
}

closeToast.onclick = () => {
  showToast()
  byId('map').focus()
}
showToast()
