// Selects the week: a slider over the weeks, and buttons to step and to play.
import { byId } from './dom.js'
import { createPlayer } from './player.js'
import { addRefresh } from './refresh.js'
import { dateOf, describeWeek, drawWeeks, hasFew, indexOf, nearestIndex, normalizeDate, positions, shares, worstFirst } from './weeks.js'
import { words } from './words.js'

const restTime = 150 // ms that the slider must rest on a week before it is loaded
const slowAfter = 400 // ms after which the page says that a week is loading
const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -Infinity, End: Infinity }

/** Fills the time section. It stays hidden if there are fewer than two weeks. @param {Page} page */
export function addTimeControl(page) {
  const { view, store } = page
  const text = words.time
  const box = byId('time')
  const [play, previous, next, newest] = box.querySelectorAll('button')
  const [week, coverage, state] = box.querySelectorAll('.info *')
  const slider = box.querySelector('input')
  let at // the positions of the weeks on the slider
  let maxCovered // the most lakes with a value in one week
  let selected // the week of the slider, which may not have loaded yet
  let note = page.dateNote
  let restTimer
  let slowTimer

  const last = () => page.weeks.length - 1
  const shown = () => indexOf(page.weeks, store.get().date)
  const requested = () => indexOf(page.weeks, view.get().date)
  const go = (i) => view.set({ date: dateOf(page.weeks, i) })
  const select = (i) => {
    player.stop()
    selected = Math.max(0, Math.min(last(), i))
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
    const now = page.weeks[selected]
    const n = now.lakes_with_data
    const past = selected < last()
    slider.value = at[selected]
    week.textContent = describeWeek(now)
    coverage.textContent = !hasFew(now, maxCovered) ? '' : n ? text.few : text.none
    const parts = shares(now).map((share, k) => n && `${words.riskShort[worstFirst[k]]} ${Math.round(100 * share)} %`)
    slider.ariaValueText = [week.textContent, coverage.textContent, ...parts, past && text.past].filter(Boolean).join(', ')
    previous.ariaDisabled = selected === 0
    next.ariaDisabled = newest.ariaDisabled = !past
    clearTimeout(slowTimer)
    slowTimer = setTimeout(updateState, slowAfter)
  }
  const build = () => {
    const { weeks } = page
    selected = requested()
    box.hidden = weeks.length < 2
    if (box.hidden) return
    at = positions(weeks)
    maxCovered = Math.max(1, ...weeks.map((w) => w.lakes_with_data))
    slider.max = at.at(-1)
    drawWeeks(box, weeks, at, maxCovered, page.legend)
    update()
    updateState()
  }
  const player = createPlayer({ page, button: play, index: shown, go })

  previous.onclick = () => select(selected - 1)
  next.onclick = () => select(selected + 1)
  newest.onclick = () => select(Infinity)
  for (const button of [play, previous, next, newest]) button.title = button.ariaLabel
  slider.oninput = () => select(nearestIndex(at, slider.value))
  slider.onkeydown = (event) => {
    const step = steps[event.key]
    if (!step || event.altKey) return
    event.preventDefault()
    select(selected + step)
  }
  view.on(['date'], () => {
    clearTimeout(restTimer)
    note = normalizeDate(view, page.weeks)
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
  addRefresh(page, player.isPlaying, () => {
    note = normalizeDate(view, page.weeks) || text.refreshed
    build()
  })
}
