// Finding lakes: by name, region, risk and place, as a list that is the twin of the map.
import { choiceOf, chosen } from './filter.js'
import { rank, spellings } from './fold.js'
import { createList } from './list.js'
import { wide } from './map.js'
import { distance, typedPlace, within } from './place.js'
import { createSearch } from './search.js'
import { addSheet } from './sheet.js'
import { symbol } from './symbols.js'
import { count, fill, language, number, words } from './words.js'

const quiet = 400 // ms without a change before the count is announced
const arrived = 200 // ms without a movement of the map
const nearby = 11 // the zoom that shows a place with the lakes around it

const text = words.find
const byName = new Intl.Collator(language, { numeric: true }).compare

// How entries, {lake, rank, distance}, are compared. What has no value stands last, and says so.
const orders = {
  value: ({ lake: a }, { lake: b }) => (b.shown?.level ?? -1) - (a.shown?.level ?? -1) || b.chl - a.chl,
  distance: (a, b) => a.distance - b.distance,
  name: () => 0,
}

/** Brings the section to life, and keeps it to the week, the risks and the part of the map that are shown. */
export function addFind(page) {
  const { map, view, status } = page
  const box = document.getElementById('find')
  if (document.body.classList.contains('embed')) return // which shows what it was made for
  box.hidden = false
  const { q, toggle, all, risk, order, near, more } = box.firstElementChild.elements
  const [note, said] = box.querySelectorAll('p')
  const list = createList(page, box.querySelector('ul'), more)
  q.placeholder = text.heading
  box.querySelector('details').open = wide() // on a phone the lakes come first
  for (const input of risk) input.after(symbol(example(page.legend, input.value)))

  let remote = [] // what the server found; undefined until it answers, null where it does not
  let picked = false // whether the reader picked the order
  const refresh = (others) => {
    const { place, texts } = typed()
    const here = place ? null : page.here
    const bounds = map.getBounds()
    const wanted = chosen(view)
    const counts = {}
    const entries = matching(status.get(), texts, remote ?? []).filter(({ lake }) => {
      if (near.checked && !within(bounds, lake)) return false
      const choice = choiceOf(lake)
      counts[choice] = (counts[choice] ?? 0) + 1
      return !wanted[0] || wanted.includes(choice)
    })
    for (const input of risk) {
      input.checked = wanted.includes(input.value)
      input.parentElement.lastChild.textContent = number(counts[input.value] ?? 0)
    }
    all.hidden = !wanted[0]
    all.textContent = fill(text.all, { risks: wanted.map((c) => words.riskShort[c]).join(', ') })
    order[1].textContent = here ? text.fromHere : text.fromMiddle
    if (!picked) order.value = place || here ? 'distance' : texts[0] ? 'name' : 'value'
    note.textContent = status.get().complete ? '' : fill(text.incomplete, { n: number(page.config.total_lakes) })
    if (remote !== undefined || entries[0]) announce(told(entries.length, status.get(), remote))
    if (!wide() && !document.body.classList.contains('find-open')) return
    const middle = map.getCenter().wrap()
    const from = here ?? { lat: middle.lat, lon: middle.lng }
    const far = here || order.value === 'distance'
    for (const entry of entries) entry.distance = far ? distance(from, entry.lake) : null
    entries.sort((a, b) => (!picked && a.rank - b.rank) || orders[order.value](a, b) || byName(a.lake.name, b.lake.name))
    list.show(entries, others)
  }
  const anew = () => refresh(true)
  const same = () => refresh(false)
  const announce = later(quiet, (words) => { if (said.textContent !== words) said.textContent = words })
  const search = createSearch(page, (lakes) => {
    remote = lakes
    same()
  })
  const ask = () => {
    const searched = typed().texts[0]
    remote = searched ? undefined : []
    search(searched && q.value)
  }
  const typed = () => {
    const place = typedPlace(q.value)
    return { place, texts: place ? [] : spellings(q.value) }
  }
  const close = addSheet(page, box, q, toggle, same)

  q.oninput = () => {
    ask()
    anew()
  }
  q.onkeydown = (event) => {
    if (event.key === 'ArrowDown') enter(event)
  }
  const enter = (event) => {
    event.preventDefault()
    const { place } = typed()
    if (!place) return list.focus()
    close()
    q.blur()
    map.setView(place, Math.max(map.getZoom(), nearby))
  }
  q.form.onsubmit = enter
  const choose = () => view.set({ risk: [...risk].filter((input) => input.checked).map((input) => input.value).join() || null })
  for (const input of risk) input.onchange = choose
  all.onclick = () => {
    view.set({ risk: null })
    if (wide()) q.focus()
    else toggle.focus() // the field would open the sheet
  }
  near.onchange = anew
  order.onchange = () => {
    picked = true
    anew()
  }
  view.on(['risk'], anew)
  view.on(['date'], ask)
  window.addEventListener('online', () => { if (remote === null) ask() })
  map.on('moveend', later(arrived, () => { if (near.checked || order.value === 'distance') same() }))
  map.on('here', anew)
  status.on(same)
  same()
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

// example is a lake that stands for those of a choice.
function example({ classes, no_data: { color } }, choice) {
  const shown = classes.findLast((c) => c.risk === choice)
  return shown ? { chl: 1, risk: choice, color: shown.color, shown } : { chl: null, color }
}

// told says how many lakes are listed, and whether the server had a say in it.
function told(n, { lakes, complete }, remote) {
  const whole = complete && n < lakes.length
  const found = n ? fill(whole ? text.some : '{all}', { n: number(n), all: count(words.list.found, whole ? lakes.length : n) }) : text.nothing
  return remote ? found : `${found}. ${text.failed}`
}

function later(wait, act) {
  let timer
  return (value) => {
    clearTimeout(timer)
    timer = setTimeout(act, wait, value)
  }
}
