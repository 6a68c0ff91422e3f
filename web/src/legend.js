// The legend: the API's own colours and limits, in the reader's words.
import * as L from 'leaflet'
import { byId, element } from './dom.js'
import { wide } from './map.js'
import { symbol } from './symbols.js'
import { fill, number, words } from './words.js'

/** Puts the legend into the corner of the map where it makes room for the attribution. Folded, it still shows the classes. */
export function addLegend({ map, legend }) {
  const box = byId('legend')
  for (const item of box.querySelectorAll('[data-symbol]')) addSymbol(item, legend)
  drawScale(legend)
  box.querySelector('.profile').textContent = fill(words.legend.profile, legend)
  box.firstElementChild.open = wide()
  L.DomEvent.disableClickPropagation(box)
  L.DomEvent.disableScrollPropagation(box)
  map.attributionControl.getContainer().before(box)
}

// addSymbol puts the symbol of a class before its name, and its limits behind it where there is room for them.
function addSymbol(item, legend) {
  const [risk, old] = item.dataset.symbol.split(' ')
  const shown = legend.classes.find((c) => c.risk === risk)
  item.prepend(symbol({ chl: shown ? 1 : null, shown, old }))
  if (shown && !old && item.matches('li')) item.append(`: ${range(shown, legend)}`)
}

// range says the limits of a class. Where no step begins at them, as in WHO 2021, a limit belongs to the class below it.
function range({ from, to }, { classes, steps }) {
  const above = steps.some((s) => s.from === classes.at(-1).from) ? '' : 'Above'
  const which = from === null ? 'first' : to === null ? 'last' : 'middle'
  return fill(words.legend[which + above], { from: number(from), to: number(to) })
}

// drawScale fills the bar of colours, and under it the limits where the classes meet, whose steps need not be equally
// wide in value.
function drawScale({ classes, min, max, steps }) {
  const [bar, ticks] = document.querySelectorAll('.bar, .ticks')
  for (const { color } of steps) bar.appendChild(element('span')).style.background = color
  let place = 0
  for (const { to, colors } of [{ to: min, colors: [] }, ...classes]) {
    if (to === null && place > 0.85) break // a limit goes before the end of the bar
    place += colors.length / steps.length
    ticks.appendChild(element('span', {}, number(to ?? max))).style.left = `${place * 100}%`
  }
}
