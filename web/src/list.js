// The lakes as a list: the twin of the map for those who do not see it or do not use a mouse.
import { age, reference } from './age.js'
import { element } from './dom.js'
import { finding } from './lake.js'
import { km } from './place.js'
import { symbol } from './symbols.js'
import { fill, number, words } from './words.js'

const most = 500 // lakes in the document at once

/**
 * Makes the list. `show` fills it with entries, {lake, distance in km or null}; `firstPage` has it begin anew; `focus`
 * goes to the first entry.
 */
export function createList(page) {
  const items = element('ul')
  const range = element('span')
  const back = element('button', { type: 'button', onclick: () => turn(-most) }, words.list.back)
  const more = element('button', { type: 'button', onclick: () => turn(most) }, words.list.more)
  const pages = element('p', { className: 'pages' }, back, range, more)
  let entries = []
  let start = 0
  const focus = () => items.querySelector('button')?.focus()
  const turn = (by) => {
    start += by
    draw()
    focus()
  }
  const draw = () => {
    start = Math.max(0, Math.min(start, Math.floor((entries.length - 1) / most) * most))
    const from = reference(page.view.get().date)
    const [focused, opener] = [document.activeElement, page.returnFocus].map((e) => (items.contains(e) ? e.dataset.id : null))
    items.replaceChildren(...entries.slice(start, start + most).map((entry) => element('li', {}, item(entry, from))))
    const button = (id) => items.querySelector(`[data-id="${CSS.escape(id)}"]`)
    if (focused) button(focused)?.focus({ preventScroll: true })
    if (opener) page.returnFocus = button(opener) ?? document.getElementById('q')
    const end = Math.min(start + most, entries.length)
    pages.hidden = entries.length <= most
    range.textContent = fill(words.list.range, { from: number(start + 1), to: number(end), n: number(entries.length) })
    back.hidden = start === 0
    more.hidden = end === entries.length
  }
  items.addEventListener('click', ({ target }) => {
    const button = target.closest('button')
    if (!button) return
    page.returnFocus = button
    page.view.set({ lake: button.dataset.id })
  })
  items.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key]
    if (!step) return
    event.preventDefault()
    const next = event.target.closest('li')[step]
    if (next) next.firstChild.focus()
    else if (event.key === 'ArrowUp') document.getElementById('q').focus()
  })
  const show = (found) => {
    entries = found
    draw()
  }
  return { box: element('div', {}, items, pages), show, focus, firstPage: () => { start = 0 } }
}

function item({ lake, distance }, from) {
  const about = [finding(lake)]
  if (lake.old) about.push(fill(words.list.measured, { age: age(lake.measured_at, from) }))
  const button = element('button', { type: 'button' },
    symbol(lake),
    element('span', {}, element('strong', {}, lake.name), ' ', element('span', { className: 'about' }, about.join(', '))),
  )
  button.dataset.id = lake.id
  if (distance !== null) button.append(' ', element('span', { className: 'far' }, km(distance)))
  return button
}
