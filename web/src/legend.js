// The legend: the colours and limits of the API, in the user's language.
import * as L from 'leaflet'
import { rangeText } from './classify.js'
import { byId, element } from './dom.js'
import { isWide } from './map.js'
import { symbol } from './symbols.js'
import { fill, number, words } from './words.js'

/** Adds the legend to the corner of the map, above the attribution. Collapsed, it still shows the classes.
 * @param {Page} page */
export function addLegend({ map, legend, store }) {
  const box = byId('legend')
  for (const item of box.querySelectorAll('[data-symbol]')) addSymbol(item, legend)
  drawScale(legend)
  box.querySelector('.profile').textContent = fill(words.legend.profile, legend)
  box.firstElementChild.open = isWide()
  const update = ({ lakes }) => {
    for (const item of box.querySelectorAll('[data-if]')) item.hidden = !lakes.some((lake) => lake[item.dataset.if] || (lake.warned && item.dataset.if === 'worse'))
  }
  store.on(update)
  update(store.get())
  L.DomEvent.disableClickPropagation(box)
  L.DomEvent.disableScrollPropagation(box)
  map.attributionControl.getContainer().before(box)
}

// addSymbol puts the symbol of a class before its name and, in a list item, its limits after the name.
function addSymbol(item, legend) {
  const [risk, variant] = item.dataset.symbol.split(' ')
  const display = legend.classes.find((c) => c.risk === risk)
  item.prepend(symbol({ chl: display ? 1 : null, display, [variant ?? risk]: true }))
  if (display && !variant && item.matches('li')) item.append(`: ${rangeText(display, legend)}`)
}

// drawScale fills the colour bar, with the limits of the classes below it. All steps are equally wide.
function drawScale({ classes, min, max, steps }) {
  const [bar, ticks] = document.querySelectorAll('.bar, .ticks')
  for (const { color } of steps) bar.appendChild(element('span')).style.background = color
  let position = 0
  for (const { to, colors } of [{ to: min, colors: [] }, ...classes]) {
    if (to === null && position > 0.85) break // the last limit needs the room
    position += colors.length / steps.length
    ticks.appendChild(element('span', {}, number(to ?? max))).style.left = `${position * 100}%`
  }
}
