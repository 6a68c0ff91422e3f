// The list of lakes that shows what the map shows, the nearest first, and the field to search in it. The search is a script of its own.
import { addBottomSheet } from './bottomsheet.js'
import { riskClass, riskClasses, riskFilter } from './classify.js'
import { byId } from './dom.js'
import { createList } from './lakelist.js'
import { lazyScript } from './lazyscript.js'
import { isWide } from './map.js'
import { orders } from './order.js'
import { embedded } from './share.js'
import { count, fill, language, number, words } from './words.js'

const announceDelay = 400 // ms without a change before the count is announced
const peeked = 5 // lakes that a phone shows above the map
const nearby = 20 // lakes of which the cleanest are listed
const moveDelay = 200 // ms without a movement of the map

const text = words.find
const byName = new Intl.Collator(language, { numeric: true }).compare

/** Loads the script of the search. */
export const loadSearch = lazyScript('find')

/** Fills the search section and updates it with the week and the filter. A map in an iframe has no search.
 * @param {Page} page */
export function addFind(page) {
  const { map, view, store } = page
  if (embedded()) return
  const box = byId('find')
  const form = box.firstElementChild
  const { q, toggle, risk, seen, order, cleanest, count: output, more } = form.elements
  const heading = cleanest.previousElementSibling
  const skip = byId('skip')
  skip.hidden = false
  skip.onclick = () => q.focus()
  const list = createList(page, box.querySelector('ul'), more)
  /** @type {Search | undefined} */
  let search // after the first use of the field
  let orderChosen = false // by the user
  let centre = map.getCenter() // of the map, from which distances count; it stays while a card is open, so that its lake keeps its place in the list

  const refresh = () => {
    /** @type {Found[]} */
    const found = search?.found() ?? store.get().lakes.map((lake) => ({ lake, rank: 0 }))
    const wanted = riskClasses(view.get().risk)
    for (const input of risk) {
      input.disabled = input.value === 'closed' && wanted.includes('high') // which shows closed lakes too; each is counted once
      input.checked = input.disabled || wanted.includes(input.value)
      const n = found.filter(({ lake }) => riskClass(lake) === input.value).length
      input.parentElement.lastChild.textContent = number(n)
      input.parentElement.hidden = input.value === 'closed' && !n && !input.checked
    }
    seen.checked = view.get().seen
    seen.parentElement.lastChild.textContent = number(found.filter(({ lake }) => lake.fresh).length)
    const place = search?.from
    order[0].textContent = search?.orderText() || (page.position ? text.fromPosition : text.fromCentre)
    if (!orderChosen) order.value = search?.searching && !place && !page.position ? 'name' : 'distance'
    const clean = order.value === 'clean'
    cleanest.ariaPressed = String(clean)
    const which = fill(clean ? text.cleanest : text.nearest, { n: number(nearby) })
    heading.textContent = `${which} · ${order[0].textContent}`
    const passes = riskFilter(view)
    let entries = found.filter(({ lake }) => passes(lake))
    const from = /** @type {any} */ (place ?? page.position) ?? (clean || order.value === 'distance' ? centre : null)
    // In km. Leaflet's sphere is smaller than the server's by one part in a million.
    for (const entry of entries) entry.distance = from && map.distance(from, /** @type {any} */ (entry.lake)) / 1000
    if (clean) entries = entries.sort(orders.distance).slice(0, nearby)
    announce(clean && entries.length ? which : entries.length && count(words.list.found, entries.length))
    entries.sort((a, b) => (!orderChosen && a.rank - b.rank) || orders[order.value](a, b) || byName(a.lake.name, b.lake.name))
    list.show(isWide() || document.body.matches('.find-open') ? entries : entries.slice(0, peeked))
  }
  const announce = debounce(announceDelay, (found) => {
    const parts = search?.say(found) ?? [found || text.nothing]
    if (!store.get().complete) parts.push(fill(text.incomplete, { n: number(page.config.total_lakes) }))
    if (view.get().seen) parts.push(text.pale)
    const message = parts.join('. ')
    if (output.value !== message) output.value = message
  })
  const load = () => loadSearch().then(({ addSearch }) => (search ??= addSearch(page, form, refresh, list.focus)))
  const use = (act) => load().then(act).catch((error) => {
    console.warn(error)
    output.value = text.failed
  })

  q.addEventListener('focus', () => load().catch(() => {}))
  q.oninput = () => {
    orderChosen = false // for another text
    use(() => search.input())
  }
  form.onsubmit = (event) => {
    event.preventDefault()
    use(() => search.submit())
  }
  for (const input of risk) {
    input.onchange = () => view.set({ risk: [...risk].filter((i) => i.checked && !i.disabled).map((i) => i.value).join() || null })
  }
  seen.onchange = () => view.set({ seen: seen.checked ? '7' : null })
  order.onchange = () => {
    orderChosen = true
    refresh()
  }
  cleanest.onclick = () => {
    orderChosen = order.value !== 'clean'
    order.value = 'clean'
    refresh()
  }
  view.on(['risk', 'seen'], refresh)
  map.on('moveend', debounce(moveDelay, () => {
    if (view.get().lake) return
    centre = map.getCenter()
    if (/distance|clean/.test(order.value) && !page.position && !search?.from) refresh()
  }))
  map.on('position', refresh)
  store.on(() => {
    search?.update()
    refresh()
  })
  addBottomSheet(map, box, q, toggle, refresh)
  q.placeholder = text.short
  box.hidden = false
  refresh()
}

function debounce(delay, f) {
  let timer
  return (value) => {
    clearTimeout(timer)
    timer = setTimeout(f, delay, value)
  }
}
