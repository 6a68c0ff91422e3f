// Loads the script that fills a card below its facts. The card shows its facts without it.
import { files } from './dom.js'
import { retryButton } from './message.js'
import { words } from './words.js'

let script = null // its promise
let failures = 0

// load requests the script; after a failure from another address, because browsers remember the failure of an address.
const load = () => (script ??= import(new URL(files.card + (failures ? `?${failures}` : ''), document.baseURI).href).catch((error) => {
  script = null
  failures++
  throw error
}))

/**
 * Returns a function with the arguments of the one that cardDetails returns. If the script cannot be loaded the card says so, and offers
 * to try again.
 * @param {HTMLElement} article @param {string} id @param {Legend} legend
 */
export function lazyDetails(article, id, legend) {
  const state = article.querySelector('section [role=status]')
  let update
  let latest
  const show = async () => {
    try {
      state.textContent = words.card.loading
      const { cardDetails } = await load()
      update ??= cardDetails(article, id, legend)
    } catch {
      return state.replaceChildren(...retryButton(show))
    }
    update(...latest)
  }
  return (...now) => {
    latest = now
    if (update) update(...now)
    else show()
  }
}
