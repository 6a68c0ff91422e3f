// The lakes as a list: the twin of the map for those who do not see it or do not use a mouse.
import { element } from './dom.js'
import { finding } from './lake.js'
import { symbol } from './symbols.js'
import { fill, number, words } from './words.js'

const most = 500 // lakes in the document at once

/** Makes the list in its elements: `show` fills it with entries, {lake, distance in km or null}, `focus` goes to the first. */
export function createList(page, items, more) {
  let entries = []
  let start = 0
  const focus = () => items.querySelector('button')?.focus()
  const draw = () => {
    const end = Math.min(start + most, entries.length)
    // Whoever was on an entry stays on it, and comes back to it from the lake's card.
    const [focused, opener] = [document.activeElement, page.returnFocus].map((e) => items.contains(e) && e.dataset.id)
    const find = (id) => items.querySelector(`[data-id="${CSS.escape(id)}"]`)
    items.replaceChildren(...entries.slice(start, end).map(item))
    if (focused) find(focused)?.focus({ preventScroll: true })
    if (opener) page.returnFocus = find(opener)
    more.hidden = entries.length <= most
    more.textContent = fill(words.list.more, { from: number(start + 1), to: number(end), n: number(entries.length) })
  }
  const show = (found, from = 0) => {
    entries = found
    start = from
    draw()
  }
  more.onclick = () => {
    show(entries, start + most < entries.length ? start + most : 0) // behind the last ones the first again
    focus()
  }
  items.onclick = ({ target }) => {
    const button = target.closest('button')
    if (!button) return
    page.returnFocus = button
    page.view.set({ lake: button.dataset.id })
  }
  return { show, focus }
}

const made = new WeakMap() // a lake's record -> its item: the same lakes are listed again and again

function item({ lake, distance }) {
  if (!made.has(lake)) made.set(lake, element('li', {}, button(lake)))
  const li = made.get(lake)
  li.firstChild.lastChild.textContent = distance === null ? '' : `${number(distance < 10 ? Math.round(distance * 10) / 10 : Math.round(distance))} km`
  return li
}

function button(lake) {
  const about = element('span', {}, element('strong', {}, lake.name), ' ', element('span', {}, finding(lake)))
  const b = element('button', { type: 'button' }, symbol(lake), about, ' ', element('span'))
  b.dataset.id = lake.id
  return b
}
