// Selects the week: a slider over the weeks and the forecast after them, and buttons to step and to play.
import { byId } from './dom.js'
import { lazyScript } from './lazyscript.js'
import { isConnected } from './offline.js'
import { createPlayer } from './player.js'
import { addRefresh } from './refresh.js'
import { stopsOf } from './stops.js'
import { dateOf, describeWeek, hasFew, indexOf, nearestIndex, normalizeDate, positions, positionsAhead, shares, worstFirst } from './weeks.js'
import { date, fill, words } from './words.js'

const restTime = 150 // ms that the slider must rest on a week before it is loaded
const slowAfter = 400 // ms after which the page says that a week is loading
const minWidth = 6 // px of a week: more weeks than fit are reached at the left end
const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -Infinity, End: Infinity }

const [loadTimeline, loadBeside] = ['timeline', 'beside'].map(lazyScript)

/** Fills the time section. It stays hidden if there are fewer than two weeks. @param {Page} page */
export function addTimeControl(page) {
  const { view, store, config } = page
  const text = words.time
  const box = byId('time')
  const [play, previous, next, beside, newest] = box.querySelectorAll('button')
  const [week, coverage, state] = box.querySelectorAll('.info *')
  const track = box.querySelector('.track')
  const slider = track.querySelector('input')
  let stops // of the forecast
  let at // the positions of the weeks on the slider, and then of those stops
  let left // the first position that is seen
  let span // how many are seen
  let maxCovered // the most lakes with a value in one week
  let selected // what the slider selects, which may not have loaded yet
  let note = page.dateNote
  let restTimer
  let slowTimer

  const last = () => page.weeks.length - 1
  const index = ({ date: day, forecast }) => (forecast ? last() + 1 + stops.findIndex((stop) => stop.week === forecast) : indexOf(page.weeks, day))
  const shown = () => index(store.get())
  const requested = () => index(view.get())
  const go = (i) => view.set(i > last() ? { date: null, forecast: stops[i - last() - 1].week } : { date: dateOf(page.weeks, i), forecast: null })
  const select = (i) => {
    player.stop()
    selected = Math.max(0, Math.min(isConnected() ? at.length - 1 : last(), i))
    note = ''
    clearTimeout(restTimer)
    restTimer = setTimeout(go, restTime, selected)
    update()
  }
  const updateState = () => {
    const message = requested() !== shown() ? text.loading : note || (selected < last() ? text.past : '')
    if (state.textContent !== message) state.textContent = message
  }
  const update = () => {
    if (box.hidden) return
    // The part of the weeks that is seen has the selected one.
    const end = at.at(-1)
    const p = at[selected]
    span = Math.min(end, Math.max(8, Math.floor(slider.clientWidth / minWidth)))
    if (p < left || p > left + span) left = p - (span >> 1)
    left = Math.max(0, Math.min(end - span, left))
    slider.min = left
    slider.max = left + span
    slider.value = p
    loadTimeline().then(({ drawTimeline }) => drawTimeline(track, page.weeks, at, maxCovered, page.legend, left, span)).catch(() => {}) // the slider works without
    const now = page.weeks[selected]
    week.textContent = now ? describeWeek(now) : fill(text.ahead, { date: date(stops[selected - last() - 1].time) })
    const n = now?.lakes_with_data
    coverage.textContent = !now || !hasFew(now, maxCovered) ? '' : n ? text.few : text.none
    const parts = n ? shares(now).map((share, k) => `${words.riskShort[worstFirst[k]]} ${Math.round(100 * share)} %`) : []
    slider.ariaValueText = [week.textContent, coverage.textContent, ...parts, selected < last() && text.past].filter(Boolean).join(', ')
    previous.ariaDisabled = selected === 0
    next.ariaDisabled = selected === at.length - 1
    newest.ariaDisabled = selected === last()
    clearTimeout(slowTimer)
    slowTimer = setTimeout(updateState, slowAfter)
  }
  const build = () => {
    const { weeks } = page
    box.hidden = weeks.length < 2
    stops = stopsOf(config.forecast)
    if (box.hidden) return
    const weeksAt = positions(weeks)
    at = [...weeksAt, ...positionsAhead(weeksAt.at(-1), stops)]
    selected = requested()
    if (selected === last() && view.get().forecast) go(selected) // there is no forecast of that day
    maxCovered = Math.max(1, ...weeks.map((w) => w.lakes_with_data))
    left = Infinity
    update()
    updateState()
  }
  const player = createPlayer({ page, button: play, index: shown, go })

  previous.onclick = () => select(selected - 1)
  next.onclick = () => select(selected + 1)
  newest.onclick = () => select(last())
  for (const button of box.querySelectorAll('button')) button.title = button.ariaLabel
  slider.oninput = () => select(nearestIndex(at, slider.value))
  slider.onchange = () => { // the slider is released at its left end: the weeks before become visible
    if (at[selected] > left) return
    left -= span >> 1
    update()
  }
  slider.onkeydown = (event) => {
    const step = steps[event.key]
    if (!step || event.altKey) return
    event.preventDefault()
    select(selected + step)
  }
  loadTimeline().then(({ addSwipe }) => addSwipe(week.parentElement, (step) => select(selected + step))).catch(console.warn)
  const showBeside = (toggles) => loadBeside().then((script) => script.showBeside(page, toggles)).catch(console.warn)
  beside.onclick = showBeside
  view.on(['beside'], () => showBeside())
  view.on(['date', 'forecast'], ({ forecast }) => {
    clearTimeout(restTimer)
    note = normalizeDate(view, page.weeks)
    if (forecast) {
      player.stop()
      if (requested() === last()) return go(last()) // there is no forecast of that day
    }
    if (!player.isPlaying()) selected = requested() // while playing, the name changes with the map
    update()
  })
  store.on(() => {
    if (player.isPlaying()) selected = shown()
    update()
    updateState()
    player.shown()
  })
  build()
  if (view.get().beside) showBeside()
  new ResizeObserver(update).observe(track)
  addRefresh(page, player.isPlaying, () => {
    note = normalizeDate(view, page.weeks) || text.refreshed
    build()
  })
}
