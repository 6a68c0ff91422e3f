// Which week is shown: a slider over the weeks, and buttons that step and play through them.
import { element } from './dom.js'
import { watchFresh } from './fresh.js'
import { createPlayer } from './play.js'
import { count, fill, words } from './words.js'
import { drawScale, drawWeeks, indexOf, inWords, places, scarcity, settleDate } from './weeks.js'

const still = 150 // ms that the slider has to rest on a week before it is loaded
const late = 400 // ms after which a week that has not come yet is said to be loading

/** Fills the section of the time. Where there are no two weeks to choose from it stays away. */
export function addTime(page) {
  const { view, status } = page
  const box = document.getElementById('time')
  const parts = fillBox(box)
  let chosen = indexOf(page.weeks, view.get().date) // what the slider shows, before it is loaded too
  let note = page.dateSaid
  let moving
  let waiting
  const shown = () => indexOf(page.weeks, status.get().date)
  const asked = () => indexOf(page.weeks, view.get().date)
  const isLate = () => waiting === null
  const paint = () => paintAll(page, parts, { chosen, shown: shown(), note, late: isLate() && asked() !== shown() })
  const go = (i) => {
    const newest = page.weeks.length - 1
    view.set({ date: i === newest ? null : page.weeks[i].date })
  }
  const player = createPlayer({ page, index: shown, go, changed: () => paintPlay(parts.play, player.playing()) })
  const choose = (i) => {
    player.stop()
    chosen = Math.max(0, Math.min(page.weeks.length - 1, i))
    note = ''
    clearTimeout(moving)
    moving = setTimeout(() => go(chosen), still)
    paint()
  }
  view.on(['date'], () => {
    clearTimeout(moving)
    note = settleDate(view, page.weeks) || note
    if (!player.playing()) chosen = asked() // while they play, the name changes with the map
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      waiting = null
      paint()
    }, late)
    paint()
  })
  status.on(() => {
    if (player.playing()) chosen = shown()
    paint()
    player.arrived()
  })
  const rebuild = () => {
    chosen = asked()
    paintWeeks(page.weeks, box, parts)
    paint()
  }
  listen(parts, { choose, toggle: player.toggle, at: () => chosen, weeks: () => page.weeks })
  page.playing = player.playing
  watchFresh(page, () => {
    note = words.time.fresh
    rebuild()
  })
  rebuild()
}

function fillBox(box) {
  const button = (name) => element('button', { type: 'button', className: name, ariaLabel: words.time[name], title: words.time[name] })
  const parts = {
    play: button('play'),
    previous: button('previous'),
    next: button('next'),
    newest: button('newest'),
    slider: element('input', { type: 'range', ariaLabel: words.time.week }),
    track: element('div', { className: 'track' }),
    week: element('strong'),
    amount: element('span'),
    state: element('p', { className: 'state', role: 'status' }),
  }
  const { play, previous, next, newest, track, week, amount, state } = parts
  newest.append(words.time.newestShort)
  box.ariaLabel = words.time.name
  box.append(
    element('div', { className: 'steps' }, play, previous, next),
    element('p', { className: 'week' }, week, ' ', amount), state, newest, track,
  )
  return parts
}

function paintWeeks(weeks, box, { slider, track }) {
  box.hidden = weeks.length < 2
  if (box.hidden) return
  slider.max = places(weeks).at(-1)
  track.replaceChildren(drawWeeks(weeks), slider, drawScale(weeks))
}

function paintAll({ weeks }, { slider, week, amount, state, previous, next, newest, play }, { chosen, shown, note, late }) {
  const now = weeks[chosen]
  if (!now) return
  const last = weeks.length - 1
  const few = scarcity(now, weeks)
  const past = chosen < last
  slider.value = places(weeks)[chosen]
  week.textContent = inWords(now)
  amount.textContent = count(words.time.amount, now.lakes_with_data) + (few && `, ${few}`)
  amount.className = few && 'few'
  slider.ariaValueText = [week.textContent, few, past ? words.time.past : ''].filter(Boolean).join(', ')
  const loading = late ? fill(words.time.loading, { week: weeks[shown]?.week.replace(/(\d+)-W0?(\d+)/, '$2/$1') ?? '' }) : ''
  const says = [note, loading].filter(Boolean).join(' ') || (past ? words.time.past : words.time.isNewest)
  if (state.textContent !== says) state.textContent = says
  state.parentElement.classList.toggle('marked', past || note !== '')
  previous.ariaDisabled = String(chosen === 0)
  next.ariaDisabled = newest.ariaDisabled = String(!past)
}

function paintPlay(play, playing) {
  play.ariaLabel = play.title = playing ? words.time.pause : words.time.play
  play.classList.toggle('playing', playing)
}

const keys = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -Infinity, End: Infinity }

function listen({ slider, play, previous, next, newest }, { choose, toggle, at, weeks }) {
  play.addEventListener('click', toggle)
  previous.addEventListener('click', () => choose(at() - 1))
  next.addEventListener('click', () => choose(at() + 1))
  newest.addEventListener('click', () => choose(Infinity))
  slider.addEventListener('input', () => choose(nearest(places(weeks()), Number(slider.value))))
  slider.addEventListener('keydown', (event) => {
    const step = keys[event.key]
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    choose(at() + step)
  })
}

// nearest returns which place is nearest to one: there may be no data for the week under the finger.
function nearest(at, place) {
  const distance = (i) => Math.abs(at[i] - place)
  return at.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0)
}
