// The search for lakes and places by a text. The files of this folder are a script of their own, which loads when the field is used for the
// first time.
import { placeAt } from '../coordinates.js'
import { element } from '../dom.js'
import { L } from '../leaflet.js'
import { fitVisible } from '../mapposition.js'
import { fill, number, words } from '../words.js'
import { matchLakes, parseQuery, ranks, spellings } from './match.js'
import { showNearest } from './nearest.js'
import { findPlaces, loadPlaces } from './places.js'
import { createSearch, maxFound } from './server.js'
import { findWords as text } from './words.js'

export { showNearest } from './nearest.js'

const few = 5 // lakes with the name of a place: with fewer, the list shows those near the place too
const fitDelay = 1000 // ms without a key press before the map shows what is found
const maxZoom = 12
// What people write before a lake's name or a German postcode, and few names have: lake Tegel, Strandbad Wannsee, D-14467 or D 14467.
const additions = /\b(lake|lac|strandbad|freibad|badestelle|d(?=[ -]?\d))\b/gi

/** Adds the search to the form. `refresh` shows what is found, `focus` focuses the first lake.
 * @param {Page} page @param {any} form @param {() => void} refresh @param {() => void} focus @returns {Search} */
export function addSearch(page, form, refresh, focus) {
  const { map, view, store } = page
  const { q } = form.elements
  const group = element('div', { className: 'places', role: 'group', ariaLabel: text.places, hidden: true })
  const credit = element('small', { hidden: true })
  q.parentElement.after(group)
  form.append(credit) // below the lakes

  /** @type {import('./match.js').Query | null} */
  let query = null
  /** @type {import('./match.js').Query | null} */
  let bare = null // without additions, for a text that nothing has
  /** @type {Lake[] | null | undefined} */
  let remote = [] // the lakes that the server found; undefined before it answers, null after a failure
  /** @type {import('./places.js').Gazetteer | undefined} */
  let gazetteer
  /** @type {import('./places.js').Place[]} */
  let places = []
  /** @type {import('./places.js').Place | null} */
  let place = null // that was chosen, or is guessed
  let guessed = false // no lake has the text, or few have it and a place is called so: the list shows those near the best place too
  const shown = () => store.get().date + page.legend.colormap
  let searched = shown() // when the server was asked

  const dot = L.circleMarker([0, 0], { pane: 'position', interactive: false, radius: 8, className: 'place-dot' })
  const setPlace = (found, isGuess = false) => {
    place = found
    guessed = isGuess
    if (place) dot.setLatLng(/** @type {any} */ (place)).addTo(map)
    else dot.remove()
  }

  const search = (by) => {
    const found = by(query)
    return found.length || !bare ? found : by(bare)
  }

  /** @type {Found[]} */
  let matches = []
  const match = () => {
    const loaded = store.get()
    matches = query && (!place || guessed) ? search((asked) => matchLakes(loaded, asked, remote ?? [])) : []
    if (query && !place) return
    const known = new Set(matches.map(({ lake }) => lake))
    matches.push(...loaded.lakes.filter((lake) => !known.has(lake)).map((lake) => ({ lake, rank: ranks.none })))
  }
  const showPlaces = () => {
    places = query && (!place || guessed) ? placeAt(q.value) : []
    if (gazetteer && query && !places.length && (!place || guessed)) places = search((asked) => findPlaces(gazetteer, asked))
    group.replaceChildren(...places.map((found) => element('button', { type: 'button', onclick: () => choose(found) }, found.name)))
    if (gazetteer) credit.textContent = `${text.places}: ${gazetteer.credit}`
    group.hidden = credit.hidden = places.length === 0
  }
  const guess = () => {
    if (guessed) setPlace(null)
    match()
    const [best] = places
    const isNamed = best && spellings(best.short).some((name) => query?.phrases.includes(`\n${name}`))
    const answered = remote !== undefined || /\d/.test(q.value) // no lake has a postcode or coordinates: nothing to wait for
    if (best && query && !place && answered && (!matches.length || isNamed && matches.length < few)) setPlace(best, true)
  }
  const choose = (found) => {
    setPlace(found)
    q.value = found.name
    askServer('')
    stop()
    showPlaces()
    refresh()
    focus()
    showNearest(page, found).catch(() => {}) // without an answer of the server the list has the lakes that are loaded
  }

  const ask = createSearch(page, (lakes) => {
    remote = lakes
    guess()
    refresh()
    if (due) fit()
  })
  const askServer = (asked) => {
    remote = asked ? undefined : []
    ask(asked)
  }

  // The map shows what was found once the user pauses, but not under a card, and not if the user has moved the map meanwhile.
  let timer
  let due = false
  let fitting = false
  const stop = () => {
    clearTimeout(timer)
    due = false
  }
  const fit = () => {
    due = remote === undefined // the server's answer may have other lakes
    if (due || !query || view.get().lake) return
    if (guessed) showNearest(page, place).catch(() => {})
    if (place || !matches.length || matches.length > maxFound || remote?.length === maxFound) return
    fitting = true
    fitVisible(map, L.latLngBounds(/** @type {any} */ (matches.map(({ lake }) => lake))), { maxZoom }, 40)
    fitting = false
  }
  map.on('dragstart zoomstart', () => fitting || stop())

  // The places load with the field, and after a failure with the next text. Without places the search still finds lakes.
  let loading
  const load = () => loading ??= loadPlaces(page.config.places).then((loaded) => {
    gazetteer = loaded
    showPlaces()
    guess()
    if (guessed) refresh()
  }).catch((error) => {
    loading = null
    if (query) console.warn(error)
  })
  load()

  return {
    get from() { return place },
    get searching() { return Boolean(query && !place) },
    found() {
      match()
      return matches
    },
    input() {
      query = parseQuery(q.value)
      bare = parseQuery(q.value.replace(additions, ''))
      setPlace(null)
      load()
      askServer(query ? q.value : '')
      stop()
      if (query) timer = setTimeout(fit, fitDelay)
      showPlaces()
      guess()
      refresh()
    },
    submit() {
      match()
      const best = Math.min(...matches.map((found) => found.rank))
      if (guessed || places.length && query && best > ranks.startsRegion) return choose(places[0])
      stop()
      fit()
      focus()
      if (matches.length === 1) /** @type {HTMLElement} */ (document.activeElement).click() // opens the only one
    },
    update() {
      const same = shown() === searched
      searched = shown()
      if (!same && query && (!place || guessed)) askServer(q.value) // the server's answer belongs to another week, or has other colours
    },
    say: (found) => [
      place && fill(text.near, { place: place.short }),
      found || (remote === undefined ? text.searching : words.find.nothing),
      remote === null && words.find.failed,
      remote?.length === maxFound && fill(text.bestOnly, { n: number(maxFound) }),
    ].filter(Boolean),
    orderText: () => place && fill(text.fromPlace, { place: place.short }),
  }
}
