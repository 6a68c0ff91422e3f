// Loads the script of favourites and notifications when the user begins to do something, or came for it.
import { lazyScript } from './lazyscript.js'
import { embedded } from './share.js'

const load = lazyScript('tell')
const signs = ['pointermove', 'pointerdown', 'keydown']

/** @param {Page} page */
export function addTelling(page) {
  if (embedded()) return
  const start = () => {
    for (const sign of signs) removeEventListener(sign, start)
    load().then(({ addTell }) => addTell(page)).catch(() => {})
  }
  if (page.view.get().lake || location.search.includes('favourites=')) start()
  else for (const sign of signs) addEventListener(sign, start)
}
