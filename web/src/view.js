// The state of the page: position, week, style and lake. The address bar holds it, so that a link shares it.
import { formatView, parseView } from './viewurl.js'

/** @import {View, ViewState} from './types' */

/** The fields of the map's position. */
export const positionFields = ['lat', 'lon', 'zoom']

/** @type {ViewState} */
const defaults = { lat: null, lon: null, zoom: null, date: null, style: null, lake: null, risk: null, opacity: null }

/**
 * Creates the view from the page's address. `get` returns it; `set` merges a change and updates the address; `on` calls a
 * listener with the new and the previous view when one of the named fields changes, also after a step in the history.
 * @returns {View}
 */
export function createView() {
  const fromAddress = () => Object.freeze({ ...defaults, ...parseView(location.search), ...parseView(location.hash.slice(1)) })
  let now = fromAddress()
  const listeners = []
  const change = (next) => {
    const before = now
    now = next
    for (const { names, listener } of listeners) {
      if (names.some((name) => now[name] !== before[name])) listener(now, before)
    }
  }
  const set = (patch) => {
    const next = Object.freeze({ ...now, ...patch })
    const names = Object.keys(defaults).filter((name) => next[name] !== now[name])
    if (names.length === 0) return
    writeAddress(next, names.includes('lake') && next.lake !== null)
    change(next)
  }
  window.onpopstate = () => change(fromAddress())
  return { get: () => now, set, on: (names, listener) => listeners.push({ names, listener }) }
}

// writeAddress adds a step to the history when a lake is opened, so that the back button closes it. In an iframe it does not,
// because the history belongs to the page around it.
function writeAddress(view, addStep) {
  const address = formatView(view) || location.pathname + location.search
  if (addStep && window === window.parent) history.pushState(null, '', address)
  else history.replaceState(null, '', address)
}
