// The card of a lake: which lake it shows, and where the focus goes when it opens and closes.
import { addStops } from './bottomsheet.js'
import { cardFacts } from './cardfacts.js'
import { classifyLakes } from './classify.js'
import { byId, focusInPlace } from './dom.js'
import { summary } from './laketext.js'
import { lazyDetails } from './lazycard.js'
import { retryButton } from './message.js'
import { fetchSearch } from './serversearch.js'
import { fill, words } from './words.js'

const maxFound = 1000 // the server's maximum; a search for an id also finds ids and names that begin with it

/** Shows the card of view.lake and hides it when no lake is selected. @param {Page} page */
export function addCard(page) {
  const { view, store, legend } = page
  const box = byId('card')
  const blank = box.firstElementChild
  const { title } = document // without a card
  let [open, article, updateDetails, requests] = [null, blank, null, 0]
  const showFacts = (facts) => {
    article.ariaLabel = facts.name
    document.title = `${facts.name} · ${words.common.title}`
    for (const e of article.querySelectorAll('[data-fact]')) e.replaceChildren(...[facts[e.dataset.fact] ?? []].flat())
  }
  const show = async () => {
    const request = ++requests
    const { lake: id } = view.get()
    box.hidden = id === null
    document.body.classList.toggle('card-open', !box.hidden)
    if (open !== id) {
      open = id
      const { open: numbers } = article.querySelector('details')
      article = blank.cloneNode(true) // keeps nothing of the lake before
      article.querySelector('details').open = numbers
      updateDetails = lazyDetails(article, id, page)
      box.replaceChildren(article)
    }
    if (box.hidden) return void (document.title = title)
    const { byId: lakes, date } = store.get()
    try {
      const lake = lakes.get(id) ?? await search(id, date, legend)
      if (request !== requests) return
      if (!lake) return showFacts({ name: fill(words.card.unknown, { id }) })
      showFacts(cardFacts(lake, date))
      article.ariaLabel = summary(lake)
      updateDetails(lake, date, date ?? page.weeks.at(-1)?.date)
    } catch {
      if (request === requests) showFacts({ name: id, failed: retryButton(show) })
    }
  }
  const close = () => view.set({ lake: null })
  const actions = {
    close,
    now() {
      view.set({ date: null })
      focusInPlace(article) // the button disappears
    },
  }
  addStops()
  box.onclick = ({ target }) => actions[target.name]?.()
  view.on(['lake'], (now) => {
    show()
    if (!now.lake) return returnFocus(page)
    box.parentElement.scrollTop = 0
    focusInPlace(article)
  })
  document.onkeydown = ({ key, target }) => {
    if (key === 'Escape' && open && (target === document.body || box.contains(target))) close()
  }
  box.addEventListener('outdated', () => store.load().catch(() => {}))
  store.on(show)
  show()
}

// returnFocus focuses the element that opened the card, or the map if that element is gone.
function returnFocus({ returnFocus: opener, map }) {
  opener?.focus()
  if (document.activeElement !== opener) focusInPlace(map.getContainer())
}

/** Asks the server for a lake that is not loaded; null if there is none.
 * @param {string} id @param {string | null} date @param {Legend} legend @returns {Promise<Lake | null>} */
async function search(id, date, legend) {
  if (!/[a-z\d]/i.test(id)) return null // the server rejects such a query
  const answer = await fetchSearch(id, maxFound, date)
  if (!answer.ok) throw answer
  const { lakes } = await answer.json()
  const [lake] = classifyLakes(lakes.filter((l) => l.id === id), legend, date)
  if (!lake && lakes.length === maxFound) throw answer // the lake may be among the matches left out
  return lake ?? null
}
