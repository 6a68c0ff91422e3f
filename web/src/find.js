// Finding lakes: by name, region, risk and place, as a list that is the twin of the map.
import { filterOf } from './filter.js'
import { rank, spellings } from './fold.js'
import { createList } from './list.js'
import { wide } from './map.js'
import { typedPlace, within } from './place.js'
import { createSearch } from './search.js'
import { addSheet } from './sheet.js'
import { markOf, symbol } from './symbols.js'
import { count, fill, language, number, words } from './words.js'

const quiet = 400 // ms without a change before the count is announced
const arrived = 200 // ms without a movement of the map
const nearby = 11 // the zoom that shows a place with the lakes around it

const text = words.find
const byName = new Intl.Collator(language, { numeric: true }).compare

// How entries, {lake, rank, distance}, are compared before their names are. What has no value stands last, and says so.
const level = ({ lake }) => lake.shown?.level ?? -1
const orders = {
  value: (a, b) => level(b) - level(a) || b.lake.chl - a.lake.chl,
  distance: (a, b) => a.distance - b.distance,
  name: () => 0,
}

/** Brings the section to life, and keeps it to the week, the risks and the part of the map that are shown. */
export function addFind(page) {
  const { map, view, status } = page
  if (document.body.classList.contains('embed')) return // which shows what it was made for
  const box = document.getElementById('find')
  const { q, toggle, risk, order, near, more } = box.firstElementChild.elements
  const said = box.querySelector('[role=status]')
  const list = createList(page, box.querySelector('ul'), more)
  let place // that is typed
  let texts = [] // the spellings of what else is typed
  let remote = [] // what the server found for them; undefined until it answers, null where it does not
  let picked = false // whether the reader picked the order

  const refresh = () => {
    const here = place ? null : page.here
    const bounds = map.getBounds()
    const found = matching(status.get(), texts, remote ?? []).filter(({ lake }) => !near.checked || within(bounds, lake))
    const chosen = filterOf(view)
    for (const input of risk) {
      input.checked = view.get().risk?.split(',').includes(input.value)
      input.parentElement.lastChild.textContent = number(found.filter(({ lake }) => markOf(lake) === input.value).length)
    }
    order[1].textContent = here ? text.fromHere : text.fromMiddle
    if (!picked) order.value = place || here ? 'distance' : texts[0] ? 'name' : 'value'
    const entries = found.filter(({ lake }) => chosen(lake))
    if (remote || entries[0]) announce(entries.length)
    if (!wide() && !document.body.classList.contains('find-open')) return
    const from = here ?? (order.value === 'distance' ? map.getCenter() : null)
    // In km, on a sphere that is smaller by one in a million than the server's.
    for (const entry of entries) entry.distance = from && map.distance(from, entry.lake) / 1000
    list.show(entries.sort((a, b) => (!picked && a.rank - b.rank) || orders[order.value](a, b) || byName(a.lake.name, b.lake.name)))
  }
  const announce = later(quiet, (n) => {
    const say = [n ? count(words.list.found, n) : text.nothing]
    if (remote === null) say.push(text.failed)
    if (!status.get().complete) say.push(fill(text.incomplete, { n: number(page.config.total_lakes) }))
    if (said.textContent !== say.join('. ')) said.textContent = say.join('. ')
  })
  const search = createSearch(page, (lakes) => {
    remote = lakes
    refresh()
  })
  const close = addSheet(page, box, q, toggle, refresh)

  q.oninput = () => {
    place = typedPlace(q.value)
    texts = place ? [] : spellings(q.value)
    remote = texts[0] ? undefined : []
    search(texts[0] && q.value)
    refresh()
  }
  q.form.onsubmit = (event) => {
    event.preventDefault()
    if (!place) return list.focus()
    close()
    q.blur() // takes the keyboard off a phone's map
    map.setView(place, Math.max(map.getZoom(), nearby))
  }
  for (const input of risk) {
    const shown = page.legend.classes.findLast((c) => c.risk === input.value)
    input.after(symbol({ chl: shown ? 1 : null, shown }))
    input.onchange = () => view.set({ risk: [...risk].filter((i) => i.checked).map((i) => i.value).join() || null })
  }
  near.onchange = refresh
  order.onchange = () => {
    picked = true
    refresh()
  }
  view.on(['risk'], refresh)
  view.on(['date'], () => q.oninput())
  map.on('moveend', later(arrived, () => { if (near.checked || order.value === 'distance') refresh() }))
  map.on('here', refresh)
  status.on(refresh)
  q.placeholder = text.heading
  box.hidden = false
  refresh()
}

// matching gives the lakes whose names hold one of the texts, and behind them those that the server found besides.
function matching({ lakes, byId }, texts, more) {
  const found = lakes.map((lake) => ({ lake, rank: texts[0] ? rank(namesOf(lake), texts) : 0 })).filter((m) => m.rank < 3)
  const known = new Set(found.map(({ lake }) => lake.id))
  return [...found, ...more.filter(({ id }) => !known.has(id)).map((lake) => ({ lake: byId.get(lake.id) ?? lake, rank: 3 }))]
}

const names = new WeakMap() // a lake's record -> the spellings of its name

function namesOf(lake) {
  if (!names.has(lake)) names.set(lake, spellings(lake.name))
  return names.get(lake)
}

function later(wait, act) {
  let timer
  return (value) => {
    clearTimeout(timer)
    timer = setTimeout(act, wait, value)
  }
}
