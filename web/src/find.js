// Finding lakes: by name, region, risk and place, as a list that is the twin of the map.
import { choiceOf, chosen } from './filter.js'
import { createForm } from './findform.js'
import { rank, ranks, spellings } from './fold.js'
import { createList } from './list.js'
import { wide } from './map.js'
import { distance, typedPlace, within } from './place.js'
import { createSearch, mostFound } from './search.js'
import { addSheet } from './sheet.js'
import { orderOf, orders } from './sort.js'
import { count, date, fill, number, words } from './words.js'

const quiet = 400 // ms without a change before the count is announced
const arrived = 200 // ms without a movement of the map
const nearby = 11 // the zoom that shows a place with the lakes around it

/** Fills the section, and keeps it to the week, the risks and the part of the map that are shown. */
export function addFind(page) {
  const { map, view, status } = page
  if (document.body.classList.contains('embed')) return // which shows what it was made for
  const form = createForm(page)
  const { field, onMap, select, go } = form
  const list = createList(page)
  const box = document.getElementById('find')
  box.append(...form.rows)
  box.lastChild.append(list.box)

  let remote = [] // what the server found; undefined until it answers, null where it does not
  let picked = null // the order that the reader picked
  let byMiddle = false // whether the list's order is by the distance from the middle of the map
  const refresh = () => {
    const { place, texts } = queryOf(field.value)
    const origin = place ?? page.here
    const here = matching(status.get(), texts, remote ?? []).filter(({ lake }) => !onMap.checked || within(map.getBounds(), lake))
    const counts = {}
    for (const { lake } of here) counts[choiceOf(lake)] = (counts[choiceOf(lake)] ?? 0) + 1
    const wanted = chosen(view)
    const entries = here.filter(({ lake }) => wanted.length === 0 || wanted.includes(choiceOf(lake)))
    const order = orderOf(picked, texts.length > 0, origin)
    byMiddle = order === 'distance' && !origin
    form.set({ counts, order, searched: texts.length > 0, from: fromWhere(place, page.here) })
    go.hidden = !place
    go.textContent = fill(words.find.go, { place: field.value.trim() })
    form.note.textContent = note(status.get(), view.get().date, page.config.total_lakes, remote)
    announce(told(entries.length, status.get(), texts.length > 0, remote))
    if (!shown()) return
    const from = origin ?? centre(map)
    for (const entry of entries) entry.distance = origin || byMiddle ? distance(from, entry.lake) : null
    list.show(entries.sort(orders[order]))
  }
  const announce = debounced(quiet, (text) => { if (form.found.textContent !== text) form.found.textContent = text })
  const search = createSearch(page, (lakes) => {
    remote = lakes
    refresh()
  })
  const ask = () => {
    const { texts } = queryOf(field.value)
    remote = texts.length > 0 ? undefined : []
    search(texts.length > 0 ? field.value.trim() : '')
  }
  const anew = () => {
    list.firstPage()
    refresh()
  }
  const shown = () => wide() || document.body.classList.contains('find-open')
  const closeSheet = addSheet(page, box, field, form.toggle, refresh)
  const goTo = ({ lat, lon }) => {
    closeSheet()
    map.setView([lat, lon], Math.max(map.getZoom(), nearby))
  }

  field.addEventListener('input', () => {
    ask()
    anew()
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown') return
    event.preventDefault()
    list.focus()
  })
  form.row.addEventListener('submit', (event) => {
    event.preventDefault()
    const { place } = queryOf(field.value)
    if (place) goTo(place)
    else list.focus()
  })
  go.addEventListener('click', () => goTo(queryOf(field.value).place))
  onMap.addEventListener('change', anew)
  select.addEventListener('change', () => {
    picked = select.value
    anew()
  })
  view.on(['risk'], anew)
  view.on(['date'], ask)
  window.addEventListener('online', () => { if (remote === null) ask() })
  map.on('moveend', debounced(arrived, () => { if (onMap.checked || byMiddle) refresh() }))
  map.on('here', anew)
  status.on(refresh)
  refresh()
}

// queryOf tells what is typed: a place, or the spellings of a text.
function queryOf(typed) {
  const place = typedPlace(typed)
  return { place, texts: place ? [] : spellings(typed) }
}

// matching gives the lakes whose names hold one of the texts, and behind them those that the server found besides.
function matching({ lakes, byId }, texts, more) {
  if (texts.length === 0) return lakes.map((lake) => ({ lake, rank: 0 }))
  const found = lakes.map((lake) => ({ lake, rank: rank(namesOf(lake), texts) })).filter((m) => m.rank < ranks)
  const known = new Set(found.map(({ lake }) => lake.id))
  const others = more.filter(({ id }) => !known.has(id))
  return [...found, ...others.map((lake, i) => ({ lake: byId.get(lake.id) ?? lake, rank: ranks + i }))]
}

const names = new WeakMap() // a lake's record -> the spellings of its name

function namesOf(lake) {
  if (!names.has(lake)) names.set(lake, spellings(lake.name))
  return names.get(lake)
}

function centre(map) {
  const { lat, lng } = map.getCenter().wrap()
  return { lat, lon: lng }
}

const fromWhere = (place, here) => (place ? words.find.fromPlace : here ? words.find.fromHere : words.find.fromMiddle)

// note tells what the list does not have.
function note({ complete }, week, total, remote) {
  const lines = []
  if (week) lines.push(fill(words.common.pastWeek, { date: date(week) }))
  if (!complete) lines.push(fill(words.find.incomplete, { n: number(total) }))
  if (remote?.length === mostFound) lines.push(words.find.many)
  return lines.join(' · ')
}

// told says how many lakes are listed, and that the server had no say in it.
function told(n, { lakes, complete }, searched, remote) {
  if (n === 0 && searched && remote === undefined) return words.find.searching
  const all = count(words.list.found, complete ? lakes.length : n)
  const found = n === 0 && searched ? words.find.nothing
    : n < lakes.length && complete ? fill(words.find.some, { n: number(n), all }) : all
  return searched && remote === null ? `${found}. ${words.find.failed}` : found
}

function debounced(wait, act) {
  let timer
  return (...args) => {
    clearTimeout(timer)
    timer = setTimeout(() => act(...args), wait)
  }
}
