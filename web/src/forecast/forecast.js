// The forecast on the map: a slider into the future in place of the weeks, a banner and a legend of its own. The tiles are those of the heat
// map. The marks of the lakes, which show their present risk, are hidden.
import { byId, element } from '../dom.js'
import { L } from '../leaflet.js'
import { date, fill, locale } from '../words.js'
import css from './forecast.css'
import { addForecastLegend } from './legend.js'
import { stopAt, stopsOf } from './stops.js'
import { text } from './words.js'

const ringRadius = 14 // px, of the selected lake

let started = false

/** Shows the forecast while the view has one. Later calls do nothing. @param {Page} page */
export async function showForecast(page) {
  if (started) return
  started = true
  try {
    await addForecastLegend()
  } catch (error) {
    started = false
    throw error
  }
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  addSlider(page)
  addBanner(page)
  addRing(page)
}

// addSlider replaces the weeks while the forecast is switched on.
function addSlider({ view, config, store }) {
  const [earlier, later] = [['previous', text.earlier], ['next', text.later]].map(([className, ariaLabel]) => (
    element('button', { type: 'button', className, ariaLabel, title: ariaLabel })
  ))
  const off = element('button', { type: 'button', onclick: () => view.set({ forecast: null }) }, text.off)
  const day = element('strong')
  const slider = element('input', { type: 'range', min: 0, ariaLabel: text.week })
  const scale = element('div', { className: 'scale', ariaHidden: 'true' })
  byId('time').after(element('section', { id: 'ahead', ariaLabel: text.name },
    earlier, later, element('div', { className: 'info' }, day), off, element('div', { className: 'track' }, slider, scale)))
  let stops
  const go = (i) => view.set({ forecast: stops[Math.max(0, Math.min(stops.length - 1, i))].week })
  const short = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const update = () => {
    const { forecast } = view.get()
    document.body.classList.toggle('forecast-on', forecast !== null)
    if (forecast === null) return
    const playing = /** @type {HTMLElement | null} */ (document.querySelector('.play[aria-pressed=true]'))
    playing?.click()
    stops = stopsOf(config.forecast)
    const i = stopAt(stops, forecast)
    if (stops[i].week !== forecast) return go(i)
    slider.max = stops.length - 1
    slider.value = i
    slider.ariaValueText = day.textContent = i ? fill(text.ahead, { date: date(stops[i].time) }) : text.nowLong
    earlier.ariaDisabled = i === 0
    later.ariaDisabled = i === stops.length - 1
    scale.replaceChildren(...stops.map(({ time }, n) => {
      const name = element('span', {}, n ? short.format(time) : text.now)
      name.style.left = `${100 * n / (stops.length - 1)}%`
      return name
    }))
  }
  earlier.onclick = () => go(slider.valueAsNumber - 1)
  later.onclick = () => go(slider.valueAsNumber + 1)
  slider.oninput = () => go(slider.valueAsNumber)
  view.on(['forecast'], update)
  store.on(update) // a refresh may bring a newer issue
  update()
}

// addBanner says what the map shows from the moment on that it shows a forecast.
function addBanner({ config, store }) {
  const what = element('strong')
  const banner = element('p', { id: 'ahead-banner' })
  banner.role = 'status'
  byId('frame').before(banner)
  const update = () => {
    const { forecast } = store.get()
    const stop = config.forecast && stopsOf(config.forecast).find(({ week }) => week === forecast)
    const isAhead = Number(forecast) > 0
    document.body.classList.toggle('ahead', isAhead)
    what.textContent = stop ? fill(text.banner, { date: date(stop.time) }) : ''
    banner.replaceChildren(...isAhead ? [what, ` ${text.model} `, element('span', {}, text.list)] : [])
  }
  store.on(update)
  update()
}

// addRing shows which lake is selected, because its mark is hidden.
function addRing({ map, store, view }) {
  const ring = L.circleMarker([0, 0], { radius: ringRadius, fill: false, interactive: false, className: 'ahead-ring', pane: 'position' })
  const update = () => {
    const { byId: lakes, forecast } = store.get()
    const lake = lakes.get(view.get().lake)
    if (lake && Number(forecast) > 0) ring.setLatLng(lake).addTo(map)
    else ring.remove()
  }
  view.on(['lake'], update)
  store.on(update)
  update()
}
