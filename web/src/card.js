// The card of a lake: which one is open, and where the focus goes when it opens and closes.
import { cardFacts } from './cardfacts.js'
import { cardHistory, failed } from './cardhistory.js'
import { byId } from './dom.js'
import { summary } from './lake.js'
import { withShown } from './shown.js'
import { fill, words } from './words.js'

const mostFound = 1000 // as the server gives at most: names that begin with the id of another lake come with it

/** Shows the card of view.lake in its section, and closes it again. */
export function addCard(page) {
  const { view, status, legend } = page
  const box = byId('card')
  const blank = box.firstElementChild
  let [open, article, mark, asked] = [null, blank, null, 0]
  const say = (facts) => {
    article.ariaLabel = facts.name
    for (const e of article.querySelectorAll('[data-fact]')) e.replaceChildren(...[facts[e.dataset.fact] ?? []].flat())
  }
  const show = async () => {
    const turn = ++asked
    const { lake: id } = view.get()
    box.hidden = id === null
    document.body.classList.toggle('card-open', !box.hidden)
    if (open !== id) {
      open = id
      article = blank.cloneNode(true) // nothing of another lake is left
      mark = cardHistory(article.lastElementChild, id, legend)
      box.replaceChildren(article)
    }
    if (box.hidden) return
    const { byId: lakes, date } = status.get()
    try {
      const lake = lakes.get(id) ?? await search(id, date, legend)
      if (turn !== asked) return
      if (!lake) return say({ name: fill(words.card.unknown, { id }) })
      say(cardFacts(lake, date))
      article.ariaLabel = summary(lake)
      mark(date ?? page.weeks.at(-1)?.date, lake.chl === null ? null : lake.measured_at.slice(0, 10))
    } catch {
      if (turn === asked) say({ name: id, failed: failed(show) })
    }
  }
  const close = () => view.set({ lake: null })
  const acts = {
    close,
    now() {
      view.set({ date: null })
      article.focus({ preventScroll: true }) // the button goes with the past week
    },
  }
  box.onclick = ({ target }) => acts[target.name]?.()
  view.on(['lake'], (now) => {
    show()
    if (!now.lake) return returnFocus(page)
    box.parentElement.scrollTop = 0
    article.focus({ preventScroll: true })
  })
  document.onkeydown = ({ key, target }) => {
    if (key === 'Escape' && open && (target === document.body || box.contains(target))) close()
  }
  status.on(show)
  show()
}

// The focus goes back to where it came from, or where that is gone, to the map.
function returnFocus({ returnFocus: to, map }) {
  to?.focus()
  if (document.activeElement !== to) map.getContainer().focus({ preventScroll: true })
}

/** The record of a lake that is not among those loaded, or null where there is none. */
async function search(id, date, legend) {
  if (!/[a-z\d]/i.test(id)) return null // the server would refuse it
  const query = new URLSearchParams({ q: id, limit: mostFound, ...(date && { date }) })
  const answer = await fetch(`api/v1/bathing-lakes/search?${query}`)
  if (!answer.ok) throw answer
  const { lakes } = await answer.json()
  const [lake] = withShown(lakes.filter((l) => l.id === id), legend, date)
  if (!lake && lakes.length === mostFound) throw lakes // the lake may be among those that were left out
  return lake ?? null
}
