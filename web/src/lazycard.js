// Loads the script that fills a card below its facts. The card shows its facts without it.
import { lazyScript } from './lazyscript.js'
import { retryButton } from './message.js'
import { words } from './words.js'

const load = lazyScript('card')

/**
 * Returns a function with the arguments of the one that cardDetails returns. If the script cannot be loaded the card says so, and offers
 * to try again.
 * @param {HTMLElement} article @param {string} id @param {Page} page
 */
export function lazyDetails(article, id, page) {
  const state = article.querySelector('section [role=status]')
  let update
  let latest
  const show = async () => {
    try {
      state.textContent = words.card.loading
      const { cardDetails } = await load()
      update ??= cardDetails(article, id, page)
    } catch {
      article.classList.remove('filling')
      return state.replaceChildren(...retryButton(show))
    }
    await update(...latest)
    article.classList.remove('filling')
  }
  return (...now) => {
    latest = now
    if (update) update(...now)
    else show()
  }
}
