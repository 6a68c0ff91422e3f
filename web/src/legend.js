// The legend: the API's own colours and limits, in the reader's words.
import * as L from 'leaflet'
import { element } from './dom.js'
import { wide } from './map.js'
import { symbol } from './symbols.js'
import { fill, number, words } from './words.js'

/** Puts the legend into the corner of the map where it makes room for the attribution. Folded, it still shows the classes. */
export function addLegend({ map, legend, view, styles }) {
  const box = element('aside', { id: 'legend', ariaLabel: words.legend.name })
  L.DomEvent.disableClickPropagation(box)
  L.DomEvent.disableScrollPropagation(box)
  const { details, nearness } = draw(legend)
  details.open = wide()
  box.append(details)
  const standard = styles.find((s) => s.default)?.id
  const follow = () => { nearness.hidden = (view.get().style ?? standard) !== 'heat' }
  view.on(['style'], follow)
  follow()
  const control = new L.Control({ position: 'bottomright' })
  control.onAdd = () => box
  control.addTo(map)
}

// draw makes it from the answer of legend.json. What it says of nearness holds for the heat map alone.
function draw(legend) {
  const above = levelsBeginAbove(legend)
  const classes = element('ul')
  const glance = element('span', { className: 'glance' })
  const item = (lake, long, short) => {
    classes.append(element('li', {}, symbol(lake), long))
    if (short) glance.append(element('span', {}, symbol(lake), short))
  }
  for (const c of legend.classes) item(ofClass(c), `${words.risk[c.risk]}: ${range(c, above)}`, words.riskShort[c.risk])
  item({ chl: null }, words.common.noValue, words.riskShort.none)
  item({ ...ofClass(legend.classes.at(-1)), old: true }, words.legend.old)
  const nearness = element('p', {}, words.legend.nearness)
  const details = element('details', {},
    element('summary', {}, element('span', { className: 'heading' }, `${words.common.chlorophyll}, ${legend.unit}`), glance),
    bar(legend),
    ticks(legend),
    classes,
    element('p', {}, `${fill(words.legend.profile, legend)} ${words.legend.small} ${words.legend.noForecast}`),
    nearness,
  )
  return { details, nearness }
}

const ofClass = (c) => ({ chl: c.from ?? 0, shown: c })

function bar({ steps }) {
  const box = element('div', { className: 'bar', ariaHidden: 'true' })
  for (const { color } of steps) {
    const step = element('span')
    step.style.background = color
    box.append(step)
  }
  return box
}

// levelsBeginAbove reports whether a limit belongs to the class below it, as in WHO 2021: then no step begins at it.
const levelsBeginAbove = ({ classes, steps }) => !classes.some(({ from }) => from !== null && steps.some((s) => s.from === from))

function range({ from, to }, above) {
  const which = from === null ? 'first' : to === null ? 'last' : 'middle'
  return fill(words.legend[above ? `${which}Above` : which], { from: from === null ? '' : number(from), to: to === null ? '' : number(to) })
}

// ticks stand where the classes meet on the bar, whose steps need not be equally wide in value.
function ticks({ classes, min, max, steps }) {
  const row = element('div', { className: 'ticks', ariaHidden: 'true' })
  const tick = (value, place) => {
    const t = element('span', {}, number(value))
    t.style.left = `${place * 100}%`
    row.append(t)
  }
  tick(min, 0)
  let before = 0
  for (const { to, colors } of classes.slice(0, -1)) {
    before += colors.length
    tick(to, before / steps.length)
  }
  if (before / steps.length < 0.85) tick(max, 1) // a limit goes before the end of the bar
  return row
}
