// Which week is shown: a slider over the weeks, and buttons that step and play through them.
import { byId } from './dom.js'
import { watchFresh } from './fresh.js'
import { createPlayer } from './play.js'
import { dateOf, drawWeeks, indexOf, inWords, places, settleDate } from './weeks.js'
import { words } from './words.js'

const still = 150 // ms that the slider has to rest on a week before it is loaded
const late = 400 // ms after which a week that has not come yet is said to be loading
const keys = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -Infinity, End: Infinity }

/** Fills the section of the time. Where there are no two weeks to choose from it stays away. */
export function addTime(page) {
  const { view, status } = page
  const said = words.time
  const box = byId('time')
  const [play, previous, next, newest] = box.querySelectorAll('button')
  const [week, scarce, state] = box.querySelectorAll('.said *')
  const slider = box.querySelector('input')
  let at // the places of the weeks
  let most // lakes that have a value in one week
  let chosen // what the slider shows, before it is loaded too
  let note = page.dateSaid // of what has just happened to the time
  let moving // until the slider rests
  let waiting // until a week is late

  const last = () => page.weeks.length - 1
  const shown = () => indexOf(page.weeks, status.get().date)
  const asked = () => indexOf(page.weeks, view.get().date)
  const go = (i) => view.set({ date: dateOf(page.weeks, i) })
  const choose = (i) => {
    player.stop()
    chosen = Math.max(0, Math.min(last(), i))
    note = ''
    clearTimeout(moving)
    moving = setTimeout(go, still, chosen)
    paint()
  }
  const tell = () => {
    const says = asked() !== shown() ? said.loading : note || (chosen < last() ? said.past : '')
    if (state.textContent !== says) state.textContent = says
  }
  const paint = () => {
    if (box.hidden) return
    const now = page.weeks[chosen]
    const n = now.lakes_with_data
    const past = chosen < last()
    slider.value = at[chosen]
    week.textContent = inWords(now)
    scarce.textContent = n * 2 > most ? '' : n ? said.few : said.none
    slider.ariaValueText = [week.textContent, scarce.textContent, past && said.past].filter(Boolean).join(', ')
    previous.ariaDisabled = chosen === 0
    next.ariaDisabled = newest.ariaDisabled = !past
    clearTimeout(waiting)
    waiting = setTimeout(tell, late)
  }
  const build = () => {
    const { weeks } = page
    chosen = asked()
    box.hidden = weeks.length < 2
    if (box.hidden) return
    at = places(weeks)
    most = Math.max(1, ...weeks.map((w) => w.lakes_with_data))
    slider.max = at.at(-1)
    drawWeeks(box, weeks, at, most)
    paint()
    tell()
  }
  const player = createPlayer({ page, button: play, index: shown, go })

  previous.onclick = () => choose(chosen - 1)
  next.onclick = () => choose(chosen + 1)
  newest.onclick = () => choose(Infinity)
  for (const button of [play, previous, next, newest]) button.title = button.ariaLabel
  slider.oninput = () => choose(nearest(at, slider.value))
  slider.onkeydown = (event) => {
    const step = keys[event.key]
    if (!step || event.altKey) return
    event.preventDefault()
    choose(chosen + step)
  }
  view.on(['date'], () => {
    clearTimeout(moving)
    note = settleDate(view, page.weeks)
    if (!player.playing()) chosen = asked() // while they play, the name changes with the map
    paint()
  })
  status.on(() => {
    if (player.playing()) chosen = shown()
    paint()
    tell()
    player.arrived()
  })
  build()
  watchFresh(page, player.playing, () => {
    note = settleDate(view, page.weeks) || said.fresh
    build()
  })
}

// nearest returns which place is nearest to one: there may be no data for the week under the finger.
const nearest = (at, place) => at.reduce((best, p, i) => (Math.abs(p - place) < Math.abs(at[best] - place) ? i : best), 0)
