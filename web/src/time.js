// Which week is shown: a slider over the weeks, and buttons that step and play through them.
import { element } from './dom.js'
import { watchFresh } from './fresh.js'
import { createPlayer } from './play.js'
import { drawScale, drawWeeks, indexOf, inWords, places, settleDate } from './weeks.js'
import { count, fill, words } from './words.js'

const still = 150 // ms that the slider has to rest on a week before it is loaded
const late = 400 // ms after which a week that has not come yet is said to be loading
const keys = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -Infinity, End: Infinity }

/** Fills the section of the time. Where there are no two weeks to choose from it stays away. */
export function addTime(page) {
  const { view, status } = page
  const said = words.time
  const box = document.getElementById('time')
  const button = (name, onclick) => element('button', { type: 'button', className: name, title: said[name], onclick })
  const play = button('play', () => player.toggle())
  const previous = button('previous', () => choose(chosen - 1))
  const next = button('next', () => choose(chosen + 1))
  const newest = button('newest', () => choose(Infinity))
  const slider = element('input', { type: 'range', ariaLabel: said.week })
  const track = element('div', { className: 'track' })
  const week = element('strong')
  const amount = element('span')
  const state = element('p', { className: 'state', role: 'status' })
  let at // the places of the weeks
  let most // lakes that have a value in one week
  let chosen // what the slider shows, before it is loaded too
  let note = page.dateSaid // of what has just happened to the time
  let moving // until the slider rests
  let waiting // until a week is late

  const last = () => page.weeks.length - 1
  const shown = () => indexOf(page.weeks, status.get().date)
  const asked = () => indexOf(page.weeks, view.get().date)
  const go = (i) => view.set({ date: i === last() ? null : page.weeks[i].date })
  const choose = (i) => {
    player.stop()
    chosen = Math.max(0, Math.min(last(), i))
    note = ''
    clearTimeout(moving)
    moving = setTimeout(go, still, chosen)
    paint()
  }
  const tell = (past) => {
    const { week: name } = page.weeks[shown()] ?? {}
    if (name && !waiting && asked() !== shown()) return fill(said.loading, { week: `${Number(name.slice(6))}/${name.slice(0, 4)}` })
    return past ? said.past : said.isNewest
  }
  const paint = () => {
    const now = page.weeks[chosen]
    if (!now) return
    const n = now.lakes_with_data
    const few = n * 2 > most ? '' : n ? said.few : said.none
    const past = chosen < last()
    slider.value = at[chosen]
    week.textContent = inWords(now)
    amount.textContent = [count(said.amount, n), few].filter(Boolean).join(', ')
    amount.className = few && 'few'
    slider.ariaValueText = [week.textContent, few, past && said.past].filter(Boolean).join(', ')
    const says = note || tell(past)
    if (state.textContent !== says) state.textContent = says
    box.classList.toggle('marked', past || note !== '')
    previous.ariaDisabled = chosen === 0
    next.ariaDisabled = newest.ariaDisabled = !past
  }
  const build = () => {
    const { weeks } = page
    chosen = asked()
    box.hidden = weeks.length < 2
    if (box.hidden) return
    at = places(weeks)
    most = Math.max(1, ...weeks.map((w) => w.lakes_with_data))
    slider.max = at.at(-1)
    track.replaceChildren(drawWeeks(weeks, at, most), slider, drawScale(weeks, at))
    paint()
  }
  const player = createPlayer({ page, index: shown, go, changed: (playing) => {
    play.title = playing ? said.pause : said.play
    play.classList.toggle('playing', playing)
  } })

  newest.append(said.newestShort)
  box.ariaLabel = said.name
  box.append(
    element('div', { className: 'steps' }, play, previous, next),
    element('p', { className: 'week' }, week, ' ', amount), state, newest, track,
  )
  slider.addEventListener('input', () => choose(nearest(at, slider.value)))
  slider.addEventListener('keydown', (event) => {
    const step = keys[event.key]
    if (!step || event.altKey) return
    event.preventDefault()
    choose(chosen + step)
  })
  view.on(['date'], () => {
    clearTimeout(moving)
    note = settleDate(view, page.weeks) || note
    if (!player.playing()) chosen = asked() // while they play, the name changes with the map
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      waiting = 0
      paint()
    }, late)
    paint()
  })
  status.on(() => {
    if (player.playing()) chosen = shown()
    paint()
    player.arrived()
  })
  build()
  page.playing = player.playing
  watchFresh(page, () => {
    note = said.fresh
    build()
  })
}

// nearest returns which place is nearest to one: there may be no data for the week under the finger.
const nearest = (at, place) => at.reduce((best, p, i) => (Math.abs(p - place) < Math.abs(at[best] - place) ? i : best), 0)
