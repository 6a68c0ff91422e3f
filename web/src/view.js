// What is shown: place, week, style and lake. The address bar holds it, so that a link shares it.

const defaults = { lat: null, lon: null, zoom: null, date: null, style: null, lake: null, risk: null, opacity: null }

/**
 * Makes the view from the page's address. `get` gives it; `set` merges a change and writes the address; `on` has a
 * function called with the view now and before whenever one of those names changed, by whoever, the back button included.
 * Null is the default of each.
 */
export function createView() {
  const ofAddress = () => Object.freeze({ ...defaults, ...named(new URLSearchParams(location.search)), ...fromHash(location.hash) })
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
  window.addEventListener('popstate', () => change(ofAddress()))
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
export function toHash({ lat, lon, zoom, date, style, lake, risk, opacity }) {
  const parts = []
  const part = (name, value) => { if (value !== null) parts.push(`${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`) }
  part('map', zoom === null ? null : `${Number(zoom.toFixed(2))}/${lat.toFixed(4)}/${lon.toFixed(4)}`)
  part('date', date)
  part('style', style)
  part('lake', lake)
  part('risk', risk)
  part('opacity', opacity)
  return parts.length > 0 ? `#${parts.join('&')}` : ''
}

function fromHash(hash) {
  const query = new URLSearchParams(hash.slice(1))
  const [zoom, lat, lon] = (query.get('map') ?? '').split('/').map(Number)
  const placed = Number.isFinite(zoom) && zoom >= 0 && zoom <= 24 && Math.abs(lat) <= 90 && Math.abs(lon) <= 180
  return { ...named(query), ...(placed ? { zoom, lat, lon } : {}) }
}

// named reads what is written the same way in the query of an embedded map. Who uses a value checks that it exists.
function named(query) {
  const found = {}
  for (const name of ['date', 'style', 'lake', 'risk']) {
    const value = query.get(name)
    if (value && value.length <= 64) found[name] = value
  }
  const opacity = Number(query.get('opacity') || NaN)
  if (opacity >= 0 && opacity <= 100) found.opacity = opacity
  return found
}
