// The legend: the API's own colours and limits, in the reader's words.
import * as L from 'leaflet'
import { element } from './dom.js'
import { wide } from './map.js'
import { symbol } from './symbols.js'
import { fill, number, words } from './words.js'

/** Puts the legend into the corner of the map where it makes room for the attribution. Folded, it still shows the classes. */
export function addLegend({ map, legend, view, styles }) {
  const nearness = element('p', {}, words.legend.nearness) // which holds for the heat map alone
  const box = element('aside', { id: 'legend', ariaLabel: words.legend.name }, draw(legend, nearness))
  L.DomEvent.disableClickPropagation(box)
  L.DomEvent.disableScrollPropagation(box)
  const standard = styles.find((s) => s.default)?.id
  const follow = () => { nearness.hidden = (view.get().style ?? standard) !== 'heat' }
  view.on(['style'], follow)
  follow()
  const control = new L.Control({ position: 'bottomright' })
  control.onAdd = () => box
  control.addTo(map)
}

// draw makes it from the answer of legend.json.
function draw(legend, nearness) {
  const { classes, unit } = legend
  const list = element('ul')
  const glance = element('span', { className: 'glance' })
  const item = (lake, long, short) => {
    list.append(element('li', {}, symbol(lake), long))
    if (short) glance.append(element('span', {}, symbol(lake), short))
  }
  for (const shown of classes) item({ shown }, `${words.risk[shown.risk]}: ${range(shown, legend)}`, words.riskShort[shown.risk])
  item({ chl: null }, words.common.noValue, words.riskShort.none)
  item({ shown: classes.at(-1), old: true }, words.legend.old)
  return element('details', { open: wide() },
    element('summary', {}, element('span', { className: 'heading' }, `${words.common.chlorophyll}, ${unit}`), glance),
    ...scale(legend),
    list,
    element('p', {}, `${fill(words.legend.profile, legend)} ${words.legend.small} ${words.legend.noForecast}`),
    nearness,
  )
}

// range says the limits of a class. Where no step begins at them, as in WHO 2021, a limit belongs to the class below it.
function range({ from, to }, { classes, steps }) {
  const above = steps.some((s) => s.from === classes.at(-1).from) ? '' : 'Above'
  const which = from === null ? 'first' : to === null ? 'last' : 'middle'
  return fill(words.legend[which + above], { from: number(from), to: number(to) })
}

// scale gives the bar of colours, and under it the limits where the classes meet, whose steps need not be equally wide
// in value.
function scale({ classes, min, max, steps }) {
  const bar = element('div', { className: 'bar', ariaHidden: 'true' })
  const ticks = element('div', { className: 'ticks', ariaHidden: 'true' })
  for (const { color } of steps) bar.appendChild(element('span')).style.background = color
  const tick = (value, place) => { ticks.appendChild(element('span', {}, number(value))).style.left = `${place * 100}%` }
  let place = 0
  tick(min, 0)
  for (const { to, colors } of classes.slice(0, -1)) tick(to, place += colors.length / steps.length)
  if (place < 0.85) tick(max, 1) // a limit goes before the end of the bar
  return [bar, ticks]
}
