// What the map draws: its style, how strong its colours are, the lakes' markers and the basemap.
import { element } from './dom.js'
import { iconButton } from './icon.js'
import { note } from './note.js'
import { language, words } from './words.js'

const usual = 85 // %, the opacity that the address leaves out
const least = 20 // %: with less, water full of algae would look clean

/** Adds the button and the panel that it opens. */
export function addLayers(page, box) {
  const { map, view } = page
  const panel = element('div', { id: 'layers', hidden: true, role: 'group', ariaLabel: words.map.layers })
  const button = iconButton('layers', words.map.layers, () => open(panel.hidden))
  button.setAttribute('aria-controls', panel.id)
  const open = (wanted) => {
    panel.hidden = !wanted
    button.ariaExpanded = String(wanted)
  }
  open(false)
  panel.append(styles(page), opacity(view), ...switches(page))
  box.append(element('div', {}, button, panel))
  map.on('click dragstart', () => open(false))
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || panel.hidden) return
    open(false)
    button.focus()
  })
}

function styles({ view, styles: known }) {
  const name = (style) => words.map.styles[style.id] ?? style.title
  const usualStyle = known.find((style) => style.default)?.id
  const radios = known.map((style) => element('input', {
    type: 'radio',
    name: 'style',
    value: style.id,
    onchange: () => view.set({ style: style.id === usualStyle ? null : style.id }),
  }))
  const check = () => {
    const now = view.get().style
    const shown = known.some(({ id }) => id === now) ? now : usualStyle
    for (const radio of radios) radio.checked = radio.value === shown
  }
  view.on(['style'], check)
  check()
  return element('fieldset', {}, element('legend', {}, words.map.style),
    ...known.map((style, i) => element('label', {}, radios[i], name(style))))
}

function opacity(view) {
  const percent = new Intl.NumberFormat(language, { style: 'percent' })
  const told = element('output')
  const range = element('input', { type: 'range', min: least, max: 100, step: 5 })
  range.addEventListener('input', () => view.set({ opacity: range.valueAsNumber === usual ? null : range.valueAsNumber }))
  const check = () => {
    const now = view.get().opacity ?? usual
    if (now < least) return view.set({ opacity: least })
    range.value = now
    told.textContent = range.ariaValueText = percent.format(now / 100)
  }
  view.on(['opacity'], check)
  check()
  return element('label', {}, words.map.opacity, ' ', told, range)
}

function switches(page) {
  const { map, view } = page
  const toggle = (text, change) => {
    const box = element('input', { type: 'checkbox', checked: true, onchange: () => change(box.checked) })
    return element('label', {}, box, text)
  }
  const markers = toggle(words.map.markers, (shown) => {
    page.markersShown = shown
    map.fire('markers')
    // The heat has no trace of a lake without a value.
    note(map, shown || view.get().style ? '' : words.map.markersOff)
  })
  if (!page.basemap) return [markers]
  return [markers, toggle(words.map.basemap, (shown) => (shown ? page.basemap.addTo(map) : page.basemap.remove()))]
}
