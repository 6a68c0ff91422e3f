// What the map draws: its style, how strong its colours are, the lakes' markers and the basemap.
import { byId, element } from './dom.js'
import { note } from './note.js'
import { language, words } from './words.js'

const usual = 85 // %, the opacity that the address leaves out
const least = 20 // %: with less, water full of algae would look clean

/** Fills the panel of the layers, and lets it open beside the buttons, or below them where there is no room. */
export function addLayers(page) {
  const panel = byId('layer-panel')
  const box = byId('controls')
  panel.addEventListener('beforetoggle', () => {
    const { top, left, right, bottom } = box.getBoundingClientRect()
    const beside = left > 290 // px
    panel.style.inset = `${beside ? top : bottom + 6}px ${window.innerWidth - (beside ? left - 6 : right)}px auto auto`
  })
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !panel.matches(':popover-open')) return
    event.preventDefault() // an open card stays
    panel.hidePopover()
  })
  addStyles(page)
  addOpacity(page)
  addSwitches(page)
}

function addStyles({ view, styles }) {
  const standard = styles.find((style) => style.default)?.id ?? null
  const radios = styles.map(({ id, title }) => {
    const onchange = () => view.set({ style: id === standard ? null : id })
    const radio = element('input', { type: 'radio', name: 'style', value: id, onchange })
    byId('styles').append(element('label', {}, radio, words.map.styles[id] ?? title))
    return radio
  })
  const check = () => {
    const shown = styles.find(({ id }) => id === view.get().style)?.id ?? standard
    for (const radio of radios) radio.checked = radio.value === shown
  }
  view.on(['style'], check)
  check()
}

function addOpacity({ view }) {
  const range = byId('opacity')
  const percent = new Intl.NumberFormat(language, { style: 'percent' })
  range.oninput = () => view.set({ opacity: range.valueAsNumber === usual ? null : range.valueAsNumber })
  const check = () => {
    const now = view.get().opacity ?? usual
    if (now < least) return view.set({ opacity: least })
    range.value = now
    range.previousSibling.textContent = range.ariaValueText = percent.format(now / 100)
  }
  view.on(['opacity'], check)
  check()
}

function addSwitches(page) {
  const { map, view, basemap } = page
  byId('markers').onchange = ({ target }) => {
    page.markersShown = target.checked
    map.fire('markers')
    // The heat has no trace of a lake without a value.
    note(target.checked || view.get().style ? '' : words.map.markersOff)
  }
  const box = byId('basemap')
  box.parentElement.hidden = !basemap
  box.onchange = () => (box.checked ? basemap.addTo(map) : basemap.remove())
}
