// Loads the script that fills a card below its verdict. The facts of the card are shown with the rest, so that nothing moves, but if a request hangs not
// later than after 25 seconds.
import { lazyScript } from './lazyscript.js'
import { retryButton } from './message.js'
import { words } from './words.js'

const [load, loadKnown] = ['card', 'known'].map(lazyScript)

const factsWait = 25_000 // ms: longer than each request may take

/**
 * Returns a function with the arguments of the one that cardDetails returns. If the script cannot be loaded the card says so, and offers
 * to try again.
 * @param {HTMLElement} article @param {string} id @param {Page} page
 */
export function lazyDetails(article, id, page) {
  const state = article.querySelector('section [role=status]')
  let update
  let latest
  const showFacts = () => article.classList.remove('filling')
  setTimeout(showFacts, factsWait)
  const known = article.querySelector('.known')
  const showSeason = () => (
    Promise.all([loadKnown(), load()]).then(([{ showKnown }, { cardWords }]) => showKnown(known, id, page, cardWords.known))
      .catch(() => known.replaceChildren(known.firstElementChild, ...retryButton(showSeason)))
  )
  known.addEventListener('toggle', showSeason, { once: true })
  const show = async () => {
    try {
      state.textContent = words.card.loading
      const { cardDetails } = await load()
      update ??= cardDetails(article, id, page)
    } catch {
      showFacts()
      return state.replaceChildren(...retryButton(show))
    }
    await update(...latest)
    showFacts()
  }
  return (...now) => {
    latest = now
    if (update) update(...now)
    else show()
  }
}
