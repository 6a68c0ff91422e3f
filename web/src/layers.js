// What the map draws: its style, and how strong its colours are.
import { byId, element } from './dom.js'
import { usualOpacity } from './heat.js'
import { language, words } from './words.js'

const least = 20 // %: with less, water full of algae would look clean

/** Fills the panel of the layers and keeps it to the view. */
export function addLayers({ view, styles }) {
  const panel = byId('layer-panel')
  const [percent, range] = panel.querySelectorAll('output, #opacity')
  const format = new Intl.NumberFormat(language, { style: 'percent' })
  const standard = styles.find((style) => style.default)
  const radios = styles.map(({ id }) => element('input', { type: 'radio', name: 'style', value: id }))
  byId('styles').append(...radios.map((radio, i) => element('label', {}, radio, words.map.styles[radio.value] ?? styles[i].title)))
  panel.oninput = () => {
    const { value } = radios.find((radio) => radio.checked)
    const opacity = range.valueAsNumber
    view.set({ style: value === standard.id ? null : value, opacity: opacity === usualOpacity ? null : opacity })
  }
  const check = () => {
    const now = view.get().opacity ?? usualOpacity
    if (now < least) return view.set({ opacity: least })
    range.value = now
    percent.value = range.ariaValueText = format.format(now / 100)
    const shown = styles.find(({ id }) => id === view.get().style) ?? standard
    for (const radio of radios) radio.checked = radio.value === shown.id
  }
  view.on(['style', 'opacity'], check)
  check()
}
