// The forecast on the map: a banner and a legend of its own. The timeline selects its day, and the tiles are those of the heat
// map. The marks of the lakes, which show their present risk, are hidden.
import { byId, element } from '../dom.js'
import { L } from '../leaflet.js'
import { stopsOf } from '../stops.js'
import { date, fill } from '../words.js'
import css from './forecast.css'
import { addForecastLegend } from './legend.js'
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
  addBanner(page)
  addRing(page)
}

// addBanner says what the map shows from the moment on that it shows a forecast.
function addBanner({ config, store }) {
  const what = element('strong')
  const banner = element('p', { id: 'ahead-banner' })
  banner.role = 'status'
  byId('frame').before(banner)
  const update = () => {
    const { forecast } = store.get()
    const stop = stopsOf(config.forecast).find(({ week }) => week === forecast)
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
