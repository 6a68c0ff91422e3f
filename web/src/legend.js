// The legend: the colours and limits of the API, in the user's language. Also the symbols of the filter, which have its colours.
import { L } from './leaflet.js'
import { rangeText } from './classify.js'
import { byId, element } from './dom.js'
import { symbol } from './symbols.js'
import { fill, number, setLimits, words } from './words.js'

/** Adds the legend to the corner of the map, above the attribution. Collapsed, it still shows the classes.
 * @param {Page} page */
export function addLegend({ map, legend, store }) {
  setLimits(legend)
  const box = byId('legend')
  for (const item of box.querySelectorAll('li')) addLimits(item, legend)
  addTicks(legend)
  box.querySelector('.profile').textContent = fill(words.legend[legend.guidance ? 'quotes' : 'profile'], legend)
  box.firstElementChild.open = matchMedia('(min-width: 1600px)').matches // on others it would cover too much of the map
  const update = ({ lakes }) => {
    for (const item of document.querySelectorAll('[data-symbol]')) drawSymbol(item, legend)
    box.querySelector('.bar').replaceChildren(...legend.steps.map(step))
    for (const item of box.querySelectorAll('[data-if]')) item.hidden = !lakes.some((lake) => lake[item.dataset.if] || (lake.warned && item.dataset.if === 'worse'))
  }
  store.on(update)
  update(store.get())
  L.DomEvent.disableClickPropagation(box)
  L.DomEvent.disableScrollPropagation(box)
  map.attributionControl.getContainer().before(box)
}

// drawSymbol puts the symbol of a class before its name.
function drawSymbol(item, { classes }) {
  const [risk, variant] = item.dataset.symbol.split(' ')
  const display = classes.find((c) => c.risk === risk)
  item.querySelector('svg')?.remove()
  item.prepend(symbol({ chl: display ? 1 : null, display, [variant ?? risk]: true }))
}

// addLimits adds the limits of a class to its name.
function addLimits(item, legend) {
  const display = legend.classes.find((c) => c.risk === item.dataset.symbol)
  if (display) item.append(words.common.colon, rangeText(display, legend))
}

// step returns a step of the colour bar. All steps are equally wide.
function step({ color }) {
  const span = element('span')
  span.style.background = color
  return span
}

// addTicks writes the limits of the classes below the colour bar, and on a line of its own that the last colour shows all larger values.
function addTicks({ classes, min, max, steps }) {
  const ticks = document.querySelector('.ticks')
  let position = 0
  for (const { to, colors } of [{ to: min, colors: [] }, ...classes]) {
    position += colors.length / steps.length
    const [className, text] = to === null ? ['end', fill(words.legend.last, { from: number(max) })] : ['', number(to)]
    ticks.appendChild(element('span', { className }, text)).style.left = `${position * 100}%`
  }
}
