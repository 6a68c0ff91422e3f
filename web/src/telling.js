// Loads the script of favourites and notifications when the user begins to do something, or came for it.
import { lazyScript } from './lazyscript.js'
import { embedded } from './share.js'

const load = lazyScript('tell')
const signs = ['pointermove', 'keydown', 'click']

/** @param {Page} page */
export function addTelling(page) {
  if (embedded()) return
  const start = () => load().then(({ addTell }) => addTell(page)).catch(() => {}) // later calls do nothing
  if (page.view.get().lake || /favour/.test(location.search)) start()
  else for (const sign of signs) addEventListener(sign, start, { once: true })
}
