// The panel with the style, the colour map and the opacity of the heat map.
import { byId, element } from './dom.js'
import { addForecastSwitch } from './forecastswitch.js'
import { defaultOpacity } from './heatmap.js'
import { language, words } from './words.js'
import { showsForecasts } from './tiles.js'

const minOpacity = 20 // %: with less, a bloom would look clean

/** Fills the panel and keeps it in step with the view. @param {Page} page */
export function addLayerPanel(page) {
  const { config, view, styles, colormaps } = page
  const panel = byId('layer-panel')
  const [percent, range] = panel.querySelectorAll('.percent, #opacity')
  const select = panel.querySelector('select')
  const format = new Intl.NumberFormat(language, { style: 'percent' })
  const standard = styles.find((style) => style.default)
  const radios = styles.map(({ id }) => element('input', { type: 'radio', name: 'style', value: id }))
  byId('styles').append(...radios.map((radio, i) => element('label', {}, radio, words.map.styles[radio.value] ?? styles[i].title)))
  select.append(...colormaps.map(({ id, title }, i) => element('option', { value: i ? id : '' }, words.map.colormaps[id] ?? title))) // the default first
  panel.oninput = () => {
    const { value } = radios.find((radio) => radio.checked)
    const opacity = range.valueAsNumber
    view.set({ style: value === standard.id ? null : value, colormap: select.value || null, opacity: opacity === defaultOpacity ? null : opacity })
  }
  const update = () => {
    const opacity = view.get().opacity ?? defaultOpacity
    if (opacity < minOpacity) return view.set({ opacity: minOpacity })
    range.value = opacity
    percent.textContent = range.ariaValueText = format.format(opacity / 100)
    select.value = view.get().colormap ?? ''
    if (!select.value) select.selectedIndex = 0 // also for an unknown one
    const current = styles.find(({ id }) => id === view.get().style) ?? standard
    const isAhead = Boolean(config.forecast) && Number(view.get().forecast) > 0
    select.disabled = isAhead // a forecast has its own colours, and fewer styles
    byId('ahead-note').textContent = isAhead ? words.map.forecastColors : ''
    for (const radio of radios) {
      radio.checked = radio.value === current.id
      radio.disabled = isAhead && !showsForecasts(radio.value)
    }
  }
  view.on(['style', 'colormap', 'opacity', 'forecast'], update)
  update()
  addForecastSwitch(page)
}
