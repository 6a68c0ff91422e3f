// The state of the page: position, week, style, colour map and lake. The address bar holds it, so that a link shares it.

const maxLength = 64 // of a value in the address, such as an id; eight ids are compared

/** The fields of the map's position. */
export const positionFields = ['lat', 'lon', 'zoom']

const textFields = ['date', 'style', 'colormap', 'lake', 'compare', 'risk', 'forecast', 'beside', 'seen']

/** @type {ViewState} */
const defaults = /** @type {any} */ (Object.fromEntries([...positionFields, ...textFields, 'opacity'].map((name) => [name, null])))

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
    if (!names[0]) return
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

/** Rounds a number to a number of decimals. @param {number} value @param {number} decimals */
export const round = (value, decimals) => Number(value.toFixed(decimals))

/** Returns the view as a URL fragment: #map=6/51.1000/10.4000&lake=de_by_starnberger_see. @param {ViewState} view */
export function formatView({ lat, lon, zoom, ...rest }) {
  const map = zoom === null ? {} : { map: [round(zoom, 2), lat.toFixed(4), lon.toFixed(4)].join('/') }
  const parts = Object.entries({ ...map, ...rest }).filter(([, value]) => value !== null)
  return parts[0] ? `#${parts.map(([name, value]) => `${name}=${encodeURI(/** @type {string} */ (value)).replaceAll(/[&#+]/g, encodeURIComponent)}`).join('&')}` : ''
}

/**
 * Returns the valid fields of a view from a query or from a fragment without its #. Whether a lake, style, colour map or week exists is
 * checked where it is used.
 * @param {string} text @returns {Partial<ViewState>}
 */
export function parseView(text) {
  const query = new URLSearchParams(text)
  /** @type {Partial<ViewState>} */
  const view = {}
  for (const name of textFields) {
    const value = query.get(name)
    if (value && value.length <= (name === 'compare' ? 8 * maxLength + 7 : maxLength)) view[name] = value
  }
  if (!/^[1-4]$/.test(view.forecast)) delete view.forecast
  else delete view.date // a forecast has no other week
  const opacity = Number(query.get('opacity') || NaN)
  if (opacity >= 0 && opacity <= 100) view.opacity = opacity
  const [zoom, lat, lon] = (query.get('map') ?? '').split('/').map(Number)
  if (zoom >= 0 && zoom <= 24 && Math.abs(lat) <= 90 && Math.abs(lon) <= 180) Object.assign(view, { zoom, lat, lon })
  return view
}
