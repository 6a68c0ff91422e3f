// Plays the weeks one after the other.
import { reducedMotion } from './map.js'
import { dateOf } from './weeks.js'

const interval = 600 // ms for a week, in addition to its loading time
const slowInterval = 2500 // ms for users who prefer reduced motion
const weeksBack = 52 // from the newest week: a year, which shows the seasons

/**
 * Makes the button play the weeks while it is pressed. `index` returns the week shown, `go` shows another. Playing stops at
 * the newest week and when the page is hidden. No week is skipped: `shown` must be called when a week is shown, and only then
 * its interval begins.
 * @param {{page: Page, button: HTMLButtonElement, index: () => number, go: (i: number) => void}} options
 */
export function createPlayer({ page, button, index, go }) {
  let timer
  const isPlaying = () => button.ariaPressed === 'true'
  const newest = () => page.weeks.length - 1
  const set = (on) => {
    clearTimeout(timer)
    button.ariaPressed = on
    if (!on) page.heatmap.prefetch([])
  }
  const stop = () => { if (isPlaying()) set(false) }
  const shown = () => {
    if (!isPlaying()) return
    const i = index()
    const next = [i + 1, i + 2].filter((n) => n <= newest()).map((n) => dateOf(page.weeks, n))
    if (next.length === 0) return set(false)
    page.heatmap.prefetch(next)
    page.store.prefetch(next[0])
    const ms = reducedMotion() ? slowInterval : interval
    clearTimeout(timer)
    timer = setTimeout(go, Math.max(ms, page.heatmap.minInterval()), i + 1)
  }
  button.onclick = () => {
    if (isPlaying()) return stop()
    set(true)
    if (index() < newest()) shown()
    else go(Math.max(0, newest() - weeksBack))
  }
  document.addEventListener('visibilitychange', () => { if (document.hidden) stop() })
  return { isPlaying, stop, shown }
}
