// The search for lakes by name, region and risk, with a list that shows what the map shows.
import { addBottomSheet } from './bottomsheet.js'
import { inClass, riskFilter } from './classify.js'
import { byId } from './dom.js'
import { createList } from './lakelist.js'
import { isWide } from './map.js'
import { matchLakes, orders, spellings } from './match.js'
import { createSearch, maxFound } from './serversearch.js'
import { embedded } from './share.js'
import { count, fill, language, number, words } from './words.js'

const announceDelay = 400 // ms without a change before the count is announced
const moveDelay = 200 // ms without a movement of the map

const text = words.find
const byName = new Intl.Collator(language, { numeric: true }).compare

/** Fills the search section and updates it with the week and the filter. A map in an iframe has no search.
 * @param {Page} page */
export function addFind(page) {
  const { map, view, store } = page
  if (embedded()) return
  const box = byId('find')
  const { q, toggle, risk, order, count: output, more } = box.firstElementChild.elements
  const list = createList(page, box.querySelector('ul'), more)
  let queries = spellings('') // of the text in the field
  /** @type {Lake[] | null | undefined} */
  let remote = [] // the lakes that the server found; undefined before it answers, null after a failure
  let orderChosen = false // by the user
  const shown = () => store.get().date + page.legend.colormap
  let searched = shown() // when the server was asked
  const query = () => queries[0] !== ' ' && q.value

  const refresh = () => {
    const found = matchLakes(store.get(), queries, remote ?? [])
    for (const input of risk) {
      input.checked = view.get().risk?.split(',').includes(input.value)
      const n = found.filter(({ lake }) => inClass(lake, input.value)).length
      input.parentElement.lastChild.textContent = number(n)
      input.parentElement.hidden = input.value === 'closed' && !n && !input.checked
    }
    if (!orderChosen) order.value = page.position ? 'distance' : query() ? 'name' : 'value'
    const passes = riskFilter(view)
    const entries = found.filter(({ lake }) => passes(lake))
    announce(entries.length)
    if (!isWide() && !document.body.matches('.find-open')) return
    const from = /** @type {any} */ (page.position) ?? (order.value === 'distance' ? map.getCenter() : null)
    // In km. Leaflet's sphere is smaller than the server's by one part in a million.
    for (const entry of entries) entry.distance = from && map.distance(from, /** @type {any} */ (entry.lake)) / 1000
    list.show(entries.sort((a, b) => (!orderChosen && a.rank - b.rank) || orders[order.value](a, b) || byName(a.lake.name, b.lake.name)))
  }
  const announce = debounce(announceDelay, (n) => {
    const parts = [n ? count(words.list.found, n) : remote === undefined ? text.searching : text.nothing]
    if (remote === null) parts.push(text.failed)
    if (remote?.length === maxFound) parts.push(fill(text.bestOnly, { n: maxFound }))
    if (!store.get().complete) parts.push(fill(text.incomplete, { n: number(page.config.total_lakes) }))
    const message = parts.join('. ')
    if (output.value !== message) output.value = message
  })
  const search = createSearch(page, (lakes) => {
    remote = lakes
    refresh()
  })
  const start = () => {
    remote = query() ? undefined : []
    search(query())
    refresh()
  }

  q.oninput = () => {
    queries = spellings(q.value)
    start()
  }
  q.form.onsubmit = (event) => {
    event.preventDefault()
    list.focus()
  }
  for (const input of risk) {
    input.onchange = () => view.set({ risk: [...risk].filter((i) => i.checked).map((i) => i.value).join() || null })
  }
  order.onchange = () => {
    orderChosen = true
    refresh()
  }
  view.on(['risk'], refresh)
  map.on('moveend', debounce(moveDelay, () => { if (order.value === 'distance' && !page.position) refresh() }))
  map.on('position', () => {
    order[1].textContent = text.fromPosition
    refresh()
  })
  store.on(() => {
    const same = shown() === searched
    searched = shown()
    if (same) refresh()
    else start() // the server's answer belongs to another week, or has other colours
  })
  addBottomSheet(map, box, q, toggle, refresh)
  q.placeholder = text.heading
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
