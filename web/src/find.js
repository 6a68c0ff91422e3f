// Finding a lake by its name.
import { element } from './dom.js'
import { finding } from './lake.js'
import { symbol } from './symbols.js'
import { count, fill, number, words } from './words.js'

const most = 500 // items shown at once: a phone scrolls no further, and the filter finds the rest

/** Fills the section with a field and the list, worst first and those without a value last. */
export function addFind(page) {
  const field = element('input', { id: 'q', type: 'search', autocomplete: 'off' })
  const found = element('p', { role: 'status' })
  const items = element('ul')
  document.getElementById('find').append(
    element('h2', {}, words.find.heading),
    element('label', {}, words.find.name, ' ', field),
    found, items,
  )
  const fill_ = () => {
    const wanted = folded(field.value)
    const lakes = page.status.get().lakes.filter((l) => folded(l.name).includes(wanted))
      .sort((a, b) => level(b) - level(a) || (b.chl ?? -1) - (a.chl ?? -1) || a.name.localeCompare(b.name))
    const all = count(words.list.found, lakes.length)
    found.textContent = lakes.length > most ? fill(words.list.firstShown, { found: all, n: number(most) }) : all
    items.replaceChildren(...lakes.slice(0, most).map(item))
  }
  const item = (lake) => {
    const button = element('button', { type: 'button' }, symbol(lake), element('strong', {}, lake.name), ` ${finding(lake)}`)
    button.addEventListener('click', () => {
      page.returnFocus = button
      page.view.set({ lake: lake.id })
    })
    return element('li', {}, button)
  }
  field.addEventListener('input', fill_)
  page.status.on(fill_)
  fill_()
}

const level = (lake) => lake.shown?.level ?? -1

// folded leaves out accents and case, so that Muggelsee finds the Müggelsee.
const folded = (s) => s.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
