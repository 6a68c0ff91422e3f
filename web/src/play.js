// The weeks one after another, each for a while.
const usual = 600 // ms that a week stays beside the time that it takes to come
const slow = 2500 // ms for those who want little to move
const back = 52 // weeks that are played where the newest is shown: a year, so that one sees the seasons
const ahead = 2 // weeks loaded in advance

/**
 * Makes the player. `index` gives the week shown, `go` shows another; `changed` is called when it has started or stopped,
 * which it does by itself at the newest week and when nobody sees the page. However slow the network, no week is left
 * out: `arrived` has to be called when one is shown, and only then the next one's time begins.
 */
export function createPlayer({ page, index, go, changed }) {
  let playing = false
  let timer
  const newest = () => page.weeks.length - 1
  const set = (on) => {
    clearTimeout(timer)
    if (on === playing) return
    playing = on
    if (!on) page.heat.ahead([])
    changed(on)
  }
  const arrived = () => {
    if (!playing) return
    if (index() === newest()) {
      set(false)
      return
    }
    const next = page.weeks.slice(index() + 1, index() + 1 + ahead).map(({ date }, i) => (index() + 1 + i === newest() ? null : date))
    page.heat.ahead(next)
    page.status.ahead(next[0])
    const least = window.matchMedia('(prefers-reduced-motion: reduce)').matches ? slow : usual
    clearTimeout(timer)
    timer = setTimeout(() => go(index() + 1), Math.max(least, page.heat.pace()))
  }
  const start = () => {
    set(true)
    if (index() < newest()) arrived()
    else go(Math.max(0, newest() - back))
  }
  document.addEventListener('visibilitychange', () => { if (document.hidden) set(false) })
  return { playing: () => playing, toggle: () => (playing ? set(false) : start()), stop: () => set(false), arrived }
}
