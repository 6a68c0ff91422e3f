// The lakes as a list: the map's twin for those who do not see it or do not use a mouse.
import { element } from './dom.js'
import { finding, lakeSwatch } from './lake.js'
import { wide } from './map.js'
import { words } from './words.js'

const most = 500 // items shown at once: a phone scrolls no further, and the filter finds the rest
const roomy = 300 // px of the map's height below which a card has no room above the open list

/**
 * Fills the list, worst first and those without a value last, and lets its field filter it by name. `open` shows a
 * lake's card; when that is closed the focus comes back to where it came from.
 */
export function fillList(details, lakes, open) {
  const items = details.querySelector('ul')
  const field = details.querySelector('input')
  const count = details.querySelector('[role=status]')
  const sorted = lakes.toSorted((a, b) => level(b) - level(a) || (b.chl ?? -1) - (a.chl ?? -1) || a.name.localeCompare(b.name))
  const fill = () => {
    const wanted = folded(field.value)
    const found = sorted.filter((l) => folded(l.name).includes(wanted))
    count.textContent = words.found(found.length, Math.min(found.length, most))
    items.replaceChildren(...found.slice(0, most).map(item))
  }
  const item = (lake) => {
    const button = element('button', { type: 'button' }, lakeSwatch(lake), element('strong', {}, lake.name), ` ${finding(lake)}`)
    button.addEventListener('click', () => {
      if (!wide() || details.previousElementSibling.clientHeight < roomy) details.open = false
      open(lake, () => (details.open && button.isConnected ? button : details.querySelector('summary')).focus())
    })
    return element('li', {}, button)
  }
  field.addEventListener('input', fill)
  details.addEventListener('toggle', () => { if (details.open && items.childElementCount === 0) fill() })
}

const level = (lake) => lake.shown?.level ?? -1

// folded leaves out accents and case, so that Muggelsee finds the Müggelsee.
const folded = (s) => s.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
