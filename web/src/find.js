// Finding lakes: by name, region and risk, in a list that is the twin of the map.
import { byId } from './dom.js'
import { filterOf } from './filter.js'
import { rank, spellings } from './fold.js'
import { createList } from './list.js'
import { wide } from './map.js'
import { createSearch, most } from './search.js'
import { addSheet } from './sheet.js'
import { markOf, symbol } from './symbols.js'
import { count, fill, language, number, words } from './words.js'

const quiet = 400 // ms without a change before the count is announced
const arrived = 200 // ms without a movement of the map

const text = words.find
const byName = new Intl.Collator(language, { numeric: true }).compare

// How entries, {lake, rank, distance}, are compared before their names are. What has no value stands last, and says so.
const level = ({ lake }) => lake.shown?.level ?? -1
const orders = {
  value: (a, b) => level(b) - level(a) || b.lake.chl - a.lake.chl,
  distance: (a, b) => a.distance - b.distance,
  name: () => 0,
}

/** Brings the section to life, and keeps it to the week and the risks that are shown. */
export function addFind(page) {
  const { map, view, status } = page
  if (document.body.matches('.embed')) return // which shows what it was made for
  const box = byId('find')
  const { q, toggle, risk, order, said, more } = box.firstElementChild.elements
  const list = createList(page, box.querySelector('ul'), more)
  let texts = spellings('') // of what is typed
  let remote = [] // what the server found for it; undefined until it answers, null where it does not
  let picked = false // whether the reader picked the order
  let week = status.get().date // that the server was asked for
  const typed = () => texts[0] !== ' ' && q.value

  const refresh = () => {
    const found = matching(status.get(), texts, remote ?? [])
    for (const input of risk) {
      input.checked = view.get().risk?.split(',').includes(input.value)
      input.parentElement.lastChild.textContent = number(found.filter(({ lake }) => markOf(lake) === input.value).length)
    }
    if (!picked) order.value = page.here ? 'distance' : typed() ? 'name' : 'value'
    const chosen = filterOf(view)
    const entries = found.filter(({ lake }) => chosen(lake))
    announce(entries.length)
    if (!wide() && !document.body.matches('.find-open')) return
    const from = page.here ?? (order.value === 'distance' ? map.getCenter() : null)
    // In km, on a sphere that is smaller by one in a million than the server's.
    for (const entry of entries) entry.distance = from && map.distance(from, entry.lake) / 1000
    list.show(entries.sort((a, b) => (!picked && a.rank - b.rank) || orders[order.value](a, b) || byName(a.lake.name, b.lake.name)))
  }
  const announce = later(quiet, (n) => {
    const say = [n ? count(words.list.found, n) : remote === undefined ? text.searching : text.nothing]
    if (remote === null) say.push(text.failed)
    if (remote?.length === most) say.push(fill(text.most, { n: most }))
    if (!status.get().complete) say.push(fill(text.incomplete, { n: number(page.config.total_lakes) }))
    if (said.value !== say.join('. ')) said.value = say.join('. ')
  })
  const search = createSearch(page, (lakes) => {
    remote = lakes
    refresh()
  })
  const begin = () => {
    remote = typed() ? undefined : []
    search(typed())
    refresh()
  }

  q.oninput = () => {
    texts = spellings(q.value)
    begin()
  }
  q.form.onsubmit = (event) => {
    event.preventDefault()
    list.focus()
  }
  for (const input of risk) {
    const shown = page.legend.classes.findLast((c) => c.risk === input.value)
    input.after(symbol({ chl: shown ? 1 : null, shown }))
    input.onchange = () => view.set({ risk: [...risk].filter((i) => i.checked).map((i) => i.value).join() || null })
  }
  order.onchange = () => {
    picked = true
    refresh()
  }
  view.on(['risk'], refresh)
  map.on('moveend', later(arrived, () => { if (order.value === 'distance' && !page.here) refresh() }))
  map.on('here', () => {
    order[1].textContent = text.fromHere
    refresh()
  })
  status.on(({ date }) => {
    const same = date === week
    week = date
    if (same) refresh()
    else begin() // what the server found is of another week
  })
  addSheet(map, box, q, toggle, refresh)
  q.placeholder = text.heading
  box.hidden = false
  refresh()
}

// matching gives the lakes whose names hold one of the texts, and besides those that the server found.
function matching({ lakes, byId: known }, texts, more) {
  const found = new Map(more.map((lake) => [lake.id, { lake: known.get(lake.id) ?? lake, rank: 3 }]))
  for (const lake of lakes) {
    lake.spellings ??= spellings(lake.name) // once, not with each key
    const at = rank(lake.spellings, texts)
    if (at < 3) found.set(lake.id, { lake, rank: at })
  }
  return [...found.values()]
}

function later(wait, act) {
  let timer
  return (value) => {
    clearTimeout(timer)
    timer = setTimeout(act, wait, value)
  }
}
