// What is shown: place, week, style and lake. The address bar holds it, so that a link shares it.

const defaults = { lat: null, lon: null, zoom: null, date: null, style: null, lake: null, risk: null, opacity: null }

/**
 * Makes the view from the page's address. `get` gives it; `set` merges a change and writes the address; `on` has a
 * function called with the view now and before whenever one of those names changed, by whoever, the back button included.
 * Null is the default of each.
 */
export function createView() {
  const ofAddress = () => Object.freeze({ ...defaults, ...named(location.search), ...named(location.hash.slice(1)) })
  let now = ofAddress()
  const listeners = []
  const change = (next) => {
    const before = now
    now = next
    for (const { names, tell } of listeners) {
      if (names.some((name) => now[name] !== before[name])) tell(now, before)
    }
  }
  const set = (patch) => {
    const next = Object.freeze({ ...now, ...patch })
    const names = Object.keys(defaults).filter((name) => next[name] !== now[name])
    if (names.length === 0) return
    write(next, names.includes('lake') && next.lake !== null)
    change(next)
  }
  window.onpopstate = () => change(ofAddress())
  return { get: () => now, set, on: (names, tell) => listeners.push({ names, tell }) }
}

// write puts the view into the address. Opening a lake is a step that the back button undoes, though not within a frame:
// the button is that of the page around it.
function write(view, step) {
  const address = toHash(view) || location.pathname + location.search
  if (step && window === window.parent) history.pushState(null, '', address)
  else history.replaceState(null, '', address)
}

/** The view as the part of an address behind its path: #map=6/51.1/10.4&lake=de_by_starnberger_see. */
export function toHash({ lat, lon, zoom, ...rest }) {
  const place = zoom === null ? {} : { map: [Number(zoom.toFixed(2)), lat.toFixed(4), lon.toFixed(4)].join('/') }
  const parts = Object.entries({ ...place, ...rest }).filter(([, value]) => value !== null)
  return parts.length > 0 ? `#${parts.map(([name, value]) => `${name}=${encodeURI(value).replaceAll(/[&#+]/g, encodeURIComponent)}`).join('&')}` : ''
}

// named reads the query of an embedded map, or what stands behind the #. Who uses a value checks that it exists.
function named(text) {
  const query = new URLSearchParams(text)
  const found = {}
  for (const name of ['date', 'style', 'lake', 'risk']) {
    const value = query.get(name)
    if (value && value.length <= 64) found[name] = value
  }
  const opacity = Number(query.get('opacity') || NaN)
  if (opacity >= 0 && opacity <= 100) found.opacity = opacity
  const [zoom, lat, lon] = (query.get('map') ?? '').split('/').map(Number)
  if (zoom >= 0 && zoom <= 24 && Math.abs(lat) <= 90 && Math.abs(lon) <= 180) Object.assign(found, { zoom, lat, lon })
  return found
}
