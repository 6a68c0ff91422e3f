// The switch of the forecast in the layer panel. What it shows is a script of its own.
import { byId } from './dom.js'
import { lazyScript } from './lazyscript.js'
import { isConnected } from './offline.js'
import { stopsOf } from './stops.js'
import { words } from './words.js'

const load = lazyScript('forecast')

/** Shows the switch if the server has a forecast, and keeps it in step with the view. @param {Page} page */
export function addForecastSwitch(page) {
  const { config, store, view } = page
  const box = byId('forecast')
  const [input, state] = box.querySelectorAll('input, p')
  const fail = () => {
    view.set({ forecast: null })
    input.checked = false
    state.textContent = words.map.forecastOffline
  }
  const update = () => {
    box.hidden = !stopsOf(config.forecast)[0]
    input.checked = view.get().forecast
    if (input.checked && config.forecast) load().then(({ showForecast }) => showForecast(page)).catch(fail)
  }
  input.onchange = () => {
    state.textContent = ''
    if (input.checked && !isConnected()) fail()
    else view.set(input.checked ? { forecast: stopsOf(config.forecast)[0].week, date: null } : { forecast: null })
  }
  view.on(['forecast'], update)
  store.on(update) // a refresh may bring the first forecast
  update()
}
