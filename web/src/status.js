// The lakes of the week that is shown.
import { load } from './load.js'
import { withShown } from './shown.js'

const mostLakes = 20_000 // that a phone can hold; of more, those around the middle of the map are loaded
/** Of so many at most: the server gives no more at once. */
export const mostNear = 1000

/**
 * Loads the records of the week shown and keeps them up to date with the view. `get` gives {lakes, byId, date,
 * newest, complete}; `on` has a function called with it after each change; `failed` hears of what could not be
 * loaded, and how to try again. Each lake that has a value bears also what it is shown as, see shown.js, and each
 * whether its value is old. `together` has a function called with each date that is asked for, which gives a promise of a
 * function that shows the same week elsewhere: it is called just before the listeners, so that no two weeks are seen at
 * once. `ahead` has the browser load a date's records in advance, or with 'no-cache' anew.
 */
export function createStatus({ view, config, legend, say, failed }) {
  const complete = (config.total_lakes ?? 0) <= mostLakes
  const listeners = []
  let now = { lakes: [], byId: new Map(), date: null, complete }
  let asked = 0
  let prepare = () => null
  const address = (seen) => `api/v1/bathing-lakes/${complete ? whole(seen.date) : around(seen)}`
  const read = async () => {
    const turn = ++asked
    const { date } = view.get()
    const [answer, show] = await Promise.all([load(address(view.get()), say), prepare(date)])
    if (turn !== asked) return now // somebody has asked for another week meanwhile
    const lakes = withShown(answer.lakes, legend, date)
    const newest = lakes.reduce((max, l) => (l.chl !== null && l.measured_at > max ? l.measured_at : max), '')
    now = { lakes, byId: new Map(lakes.map((l) => [l.id, l])), date, newest, complete }
    show?.()
    for (const tell of listeners) tell(now)
    return now
  }
  const again = () => {
    const turn = asked + 1
    return read().then(() => say(), (error) => { if (turn === asked) failed(error, again) })
  }
  let waiting
  view.on(['date', 'style', ...(complete ? [] : ['lat', 'lon', 'zoom'])], () => {
    clearTimeout(waiting)
    waiting = setTimeout(again, complete ? 0 : 300) // ms: a map that is being moved has not arrived yet
  })
  return {
    get: () => now,
    on: (tell) => listeners.push(tell),
    load: read,
    together: (f) => { prepare = f },
    ahead: (date, cache) => fetch(address({ ...view.get(), date }), { priority: 'low', cache }).catch(() => {}),
  }
}

const whole = (date) => `status${date ? `?date=${date}` : ''}`

function around({ lat, lon, zoom, date }) {
  const radius = Math.min(20_000, 40_000 / 2 ** (zoom ?? 6)) // km: a screen of some 1,000 pixels
  const query = new URLSearchParams({ lat: lat ?? 51, lon: lon ?? 10, radius_km: radius.toFixed(3), limit: mostNear })
  if (date) query.set('date', date)
  return `near?${query}`
}
