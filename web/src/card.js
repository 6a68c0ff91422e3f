// The card of a lake: which one is open, and where the focus goes when it opens and closes.
import { cardFacts } from './cardfacts.js'
import { cardHistory, failed } from './cardhistory.js'
import { copyButton } from './copy.js'
import { byId, element } from './dom.js'
import { summary } from './lake.js'
import { withShown } from './shown.js'
import { fill, words } from './words.js'

const mostFound = 1000 // as the server gives at most: names that begin with the id of another lake come with it

/** Shows the card of view.lake in its section, and closes it again. */
export function addCard(page) {
  const { view, status } = page
  const box = byId('card')
  const close = () => view.set({ lake: null })
  let open = null
  let asked = 0
  const show = async () => {
    const turn = ++asked
    const { lake: id } = view.get()
    box.hidden = id === null
    document.body.classList.toggle('card-open', !box.hidden)
    if (open?.id !== id) {
      open = id === null ? null : card(id, page, close)
      box.replaceChildren(...(open ? [open.article] : []))
    }
    if (!open) return
    const { byId: lakes, date } = status.get()
    try {
      const lake = lakes.get(id) ?? await search(id, date, page.legend)
      if (turn === asked) open.show(lake, date)
    } catch {
      if (turn === asked) open.fail(show)
    }
  }
  view.on(['lake'], (now) => {
    show()
    if (!now.lake) return returnFocus(page)
    box.parentElement.scrollTop = 0
    open.article.focus({ preventScroll: true })
  })
  document.addEventListener('keydown', ({ key, target }) => {
    if (key === 'Escape' && open && (target === document.body || box.contains(target))) close()
  })
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

// card stays while its lake does: another week changes what it says, and nothing loses the focus.
function card(id, { view, legend, weeks }, close) {
  const title = element('h2', {}, words.card.loading)
  const facts = element('div')
  const past = cardHistory(id, legend)
  const link = () => {
    const { date } = view.get()
    return new URL(`./#${date ? `date=${date}&` : ''}lake=${id}`, location.href).href
  }
  const rest = element('div', { hidden: true }, past.box, copyButton(words.card.copy, link))
  const article = element('article', { tabIndex: -1, ariaLabel: words.card.loading },
    element('div', { className: 'head' }, title,
      element('button', { type: 'button', ariaLabel: words.common.close, onclick: close }, '×')),
    facts, rest)
  const say = (name, ...parts) => {
    title.textContent = name
    facts.replaceChildren(...parts)
  }
  return {
    id,
    article,
    show(lake, week) {
      if (!lake) return say(fill(words.card.unknown, { id }))
      article.ariaLabel = summary(lake)
      const inside = facts.contains(document.activeElement)
      say(lake.name, ...cardFacts(lake, week, () => view.set({ date: null })))
      if (inside) article.focus({ preventScroll: true }) // the button that leads back to the newest week is gone
      rest.hidden = false
      past.mark(week ?? weeks.at(-1)?.date, lake.chl === null ? null : lake.measured_at.slice(0, 10))
    },
    fail: (again) => say(id, failed(again)),
  }
}
