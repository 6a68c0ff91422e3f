// The list of lakes, which gives the same information as the map without sight and without a mouse.
import { element, focusInPlace } from './dom.js'
import { describeLake, officialText, verdictOf, verdictText } from './laketext.js'
import { symbol } from './symbols.js'
import { fill, number, words } from './words.js'

const pageSize = 500 // lakes in the document at once

/** Creates the list: `show` fills it, `focus` focuses the first lake.
 * @param {Page} page @param {HTMLElement} items @param {HTMLElement} more */
export function createList(page, items, more) {
  /** @type {Found[]} */
  let entries = []
  let start = 0
  const focus = () => items.querySelector('button')?.focus()
  /** @param {Found[]} found */
  const show = (found, from = 0) => {
    entries = found
    start = from
    const shown = entries.slice(start, start + pageSize).map((entry) => item(entry, page.store.get().date))
    // An entry that leaves the list between a press and the release, even for a moment, gets no click.
    if (shown.length !== items.children.length || shown.some((li, i) => li !== items.children[i])) {
      // A focused entry keeps the focus, and an entry that opened a card gets it back.
      const [focused, opener] = [document.activeElement, page.returnFocus].map((e) => items.contains(e) && /** @type {HTMLElement} */ (e).dataset.id)
      const find = (id) => /** @type {HTMLElement} */ (items.querySelector(`[data-id="${CSS.escape(id)}"]`))
      items.replaceChildren(...shown)
      items.scrollLeft = 0 // of a row, which otherwise stays at the lake that it showed
      if (focused) focusInPlace(find(focused))
      if (opener) page.returnFocus = find(opener)
    }
    more.hidden = entries.length <= pageSize
    more.textContent = fill(words.list.more, { from: number(start + 1), to: number(start + shown.length), n: number(entries.length) })
  }
  more.onclick = () => {
    show(entries, start + pageSize < entries.length ? start + pageSize : 0) // the last page is followed by the first
    focus()
  }
  items.onclick = ({ target }) => {
    const clicked = /** @type {HTMLElement} */ (target).closest('button')
    if (!clicked) return
    page.returnFocus = clicked
    page.view.set({ lake: clicked.dataset.id })
  }
  return { show, focus }
}

const itemsByLake = new WeakMap() // the same lakes are listed many times

/** @param {Found} found @param {string | null} week */
function item({ lake, distance }, week) {
  if (!itemsByLake.has(lake)) itemsByLake.set(lake, element('li', {}, button(lake, week)))
  const li = itemsByLake.get(lake)
  li.firstChild.lastChild.textContent = distance === null ? '' : `${number(distance < 10 ? Math.round(distance * 10) / 10 : Math.round(distance))} km`
  return li
}

// button has the verdict too, but not in a past week, in which nobody can swim.
function button(lake, week) {
  const official = officialText(lake)
  const facts = element('span', {}, element('b', {}, official), describeLake(lake).slice(official.length))
  const sign = symbol(lake)
  const verdict = week ? '' : element('em', { className: `verdict ${verdictOf(lake)}` }, verdictText(lake))
  const description = element('span', {}, element('strong', {}, lake.name), ' ', verdict, ' ', facts)
  const b = element('button', { type: 'button' }, sign, description, ' ', element('span'))
  b.style.setProperty('--colour', sign.style.getPropertyValue('--colour'))
  b.dataset.id = lake.id
  return b
}
