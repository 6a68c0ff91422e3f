// The weeks one after another, each for a while.
import { dateOf } from './weeks.js'

const usual = 600 // ms that a week stays beside the time that it takes to come
const slow = 2500 // ms for those who want little to move
const back = 52 // weeks that are played where the newest is shown: a year, so that one sees the seasons

/**
 * Has the button play the weeks while it is pressed. `index` gives the week shown, `go` shows another. It stops by itself
 * at the newest week and when nobody sees the page. However slow the network, no week is left out: `arrived` has to be
 * called when one is shown, and only then the next one's time begins.
 */
export function createPlayer({ page, button, index, go }) {
  let timer
  const playing = () => button.ariaPressed === 'true'
  const newest = () => page.weeks.length - 1
  const set = (on) => {
    clearTimeout(timer)
    button.ariaPressed = on
    if (!on) page.heat.ahead([])
  }
  const stop = () => { if (playing()) set(false) }
  const arrived = () => {
    if (!playing()) return
    const i = index()
    const next = [i + 1, i + 2].filter((n) => n <= newest()).map((n) => dateOf(page.weeks, n))
    if (next.length === 0) return set(false)
    page.heat.ahead(next)
    page.status.ahead(next[0])
    const least = window.matchMedia('(prefers-reduced-motion: reduce)').matches ? slow : usual
    clearTimeout(timer)
    timer = setTimeout(go, Math.max(least, page.heat.pace()), i + 1)
  }
  button.onclick = () => {
    if (playing()) return stop()
    set(true)
    if (index() < newest()) arrived()
    else go(Math.max(0, newest() - back))
  }
  document.addEventListener('visibilitychange', () => { if (document.hidden) stop() })
  return { playing, stop, arrived }
}
