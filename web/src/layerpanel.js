// The panel with the style and the opacity of the heat map.
import { byId, element } from './dom.js'
import { defaultOpacity } from './heatmap.js'
import { language, words } from './words.js'

const minOpacity = 20 // %: with less, a bloom would look clean

/** Fills the panel and keeps it in step with the view. @param {Page} page */
export function addLayerPanel({ view, styles }) {
  const panel = byId('layer-panel')
  const [percent, range] = panel.querySelectorAll('output, #opacity')
  const format = new Intl.NumberFormat(language, { style: 'percent' })
  const standard = styles.find((style) => style.default)
  const radios = styles.map(({ id }) => element('input', { type: 'radio', name: 'style', value: id }))
  byId('styles').append(...radios.map((radio, i) => element('label', {}, radio, words.map.styles[radio.value] ?? styles[i].title)))
  panel.oninput = () => {
    const { value } = radios.find((radio) => radio.checked)
    const opacity = range.valueAsNumber
    view.set({ style: value === standard.id ? null : value, opacity: opacity === defaultOpacity ? null : opacity })
  }
  const update = () => {
    const opacity = view.get().opacity ?? defaultOpacity
    if (opacity < minOpacity) return view.set({ opacity: minOpacity })
    range.value = opacity
    percent.value = range.ariaValueText = format.format(opacity / 100)
    const current = styles.find(({ id }) => id === view.get().style) ?? standard
    for (const radio of radios) radio.checked = radio.value === current.id
  }
  view.on(['style', 'opacity'], update)
  update()
}
