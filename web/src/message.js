// The one place where the page says that something is wrong.
import { element } from './dom.js'
import { words } from './words.js'

const box = document.getElementById('message')

/** Says something that will pass by itself; nothing said takes the message away. */
export function say(text = '') {
  box.replaceChildren(text)
  box.hidden = text === ''
}

/** Says that the data could not be loaded, and offers to try again; a page that was offline does so by itself. */
export function sayFailed(retry) {
  const again = () => {
    window.removeEventListener('online', again)
    say()
    retry()
  }
  window.addEventListener('online', again)
  say(navigator.onLine ? words.common.failed : words.common.offline)
  box.append(' ', element('button', { type: 'button', onclick: again }, words.common.tryAgain))
}
