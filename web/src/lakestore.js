// The lakes of the week that is shown, in the colours of its legend.
import { classifyLakes } from './classify.js'
import { fetchJSON } from './fetchjson.js'
import { showLoadError, showMessage } from './message.js'
import { positionFields } from './view.js'

const maxLakes = 20_000 // on a phone; of more lakes only those near the centre of the map are loaded
const moveDelay = 300 // ms without a movement of the map before those are loaded
const endInterval = 60_000 // ms between looks at the clock for the end of a statement; a longer timer would stop while the device sleeps
const [afterEnd, spread] = [5000, 10_000] // ms from that end to the request, by which the server's clock has passed it; not all pages ask at once

/** The number of lakes near the centre, which is the server's maximum. */
export const maxNear = 1000

/**
 * Loads the lakes of the view's week, and again when the view changes. `get` returns them; `on` adds a listener for changes.
 * `beforeShow` sets a function that prepares another part of the page
 * for a date: its promise returns a function that shows that part, which is called just before the listeners, so that the page
 * never shows two weeks or two colour maps at once. The legend of another colour map replaces the content of `legend` then. `prefetch` loads the records of a date into the browser's cache. When an official statement ends, the
 * lakes are shown without it and loaded again, because another one may remain.
 * @param {View} view @param {Pick<Page, 'config' | 'legend' | 'colormaps'>} settings @returns {LakeStore}
 */
export function createLakeStore(view, { config, legend, colormaps }) {
  const complete = (config.total_lakes ?? 0) <= maxLakes
  const listeners = []
  /** @type {Lakes} */
  let now = { lakes: [], byId: new Map(), date: null, complete, forecast: null }
  let requests = 0
  let prepare = (_date) => null
  const url = (state) => `api/v1/bathing-lakes/${complete ? statusURL(state.date) : nearURL(state)}`
  const load = async () => {
    const request = ++requests
    const { date, colormap, forecast } = view.get()
    // The browser's cache may have an older newest week than page.json says, and no refresh would replace it.
    const options = /** @type {RequestInit} */ (date === null ? { cache: 'no-cache' } : {})
    const [answer, colours, show] = await Promise.all([fetchJSON(url(view.get()), options), loadLegend(colormap), prepare(date)])
    if (request !== requests) return now // there is a newer request
    Object.assign(legend, colours)
    return showLakes(answer, date, forecast, show)
  }
  const loadLegend = (colormap) => {
    const { id, default: standard } = colormaps.find((c) => c.id === colormap) ?? colormaps[0]
    return id !== legend.colormap && fetchJSON(`api/v1/legend.json${standard ? '' : `?colormap=${id}`}`)
  }
  let endTimer
  let afterTimer
  const showLakes = (answer, date, forecast, show = null) => {
    const lakes = classifyLakes(answer.lakes, legend, date)
    const newest = lakes.reduce((max, l) => (l.measured_at > max ? l.measured_at : max), '')
    now = { lakes, byId: new Map(lakes.map((l) => [l.id, l])), date, newest, complete, forecast }
    show?.()
    clearTimeout(endTimer)
    clearTimeout(afterTimer)
    const ends = lakes.map(({ advisory }) => Date.parse(advisory?.valid_until)).filter(Boolean)
    if (date === null && ends[0]) waitForEnd(ends.reduce((a, b) => Math.min(a, b)), answer)
    for (const listener of listeners) listener(now)
    return now
  }
  const waitForEnd = (end, answer) => {
    const ms = end - Date.now()
    if (ms > 0) {
      endTimer = setTimeout(waitForEnd, Math.min(ms, endInterval), end, answer)
      return
    }
    showLakes(answer, null, now.forecast)
    afterTimer = setTimeout(() => load().catch(() => {}), afterEnd + spread * Math.random())
  }
  const reload = () => {
    const request = requests + 1
    return load().then(() => showMessage(), (error) => { if (request === requests) showLoadError(error, reload) })
  }
  let timer
  view.on(['date', 'style', 'colormap', 'forecast', ...(complete ? [] : positionFields)], () => {
    clearTimeout(timer)
    timer = setTimeout(reload, complete ? 0 : moveDelay)
  })
  return {
    get: () => now,
    on: (listener) => listeners.push(listener),
    load,
    reload,
    beforeShow: (f) => { prepare = f },
    prefetch: (date, cache) => fetch(url({ ...view.get(), date }), { priority: 'low', cache }).catch(() => {}),
  }
}

const statusURL = (date) => `status${date ? `?date=${date}` : ''}`

/** @param {ViewState} state */
function nearURL({ lat, lon, zoom, date }) {
  const radius = Math.min(20_000, 40_000 / 2 ** (zoom ?? 6)) // km: a screen of about 1,000 pixels
  const query = new URLSearchParams(/** @type {any} */ ({ lat: lat ?? 51, lon: lon ?? 10, radius_km: radius.toFixed(3), limit: maxNear }))
  if (date) query.set('date', date)
  return `near?${query}`
}
