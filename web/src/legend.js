// The legend: the API's own colours and limits, in the reader's words.
import { element, swatch } from './dom.js'
import { number, words } from './words.js'

/** Fills the legend's element from the answer of legend.json. Folded, it still shows the classes at a glance. */
export function drawLegend(box, legend, open) {
  const bar = element('div', { className: 'bar', ariaHidden: 'true' })
  for (const { color } of legend.steps) {
    const step = element('span')
    step.style.background = color
    bar.append(step)
  }
  const above = levelsBeginAbove(legend)
  const classes = element('ul')
  const glance = element('span', { className: 'glance' }, `${words.riskHeading}:`)
  const item = (swatchOf, long, short) => {
    classes.append(element('li', {}, swatchOf(), long))
    glance.append(element('span', {}, swatchOf(), short))
  }
  for (const c of legend.classes) {
    item(() => swatch(c.color), `${words.risk[c.risk]}: ${range(c, above)}`, words.riskShort[c.risk])
  }
  item(() => swatch(legend.no_data.color, true), words.noValue, words.noValueShort)
  box.replaceChildren(element('details', { open },
    element('summary', {}, element('span', { className: 'heading' }, `${words.chlorophyll}, ${legend.unit}`), glance),
    bar,
    ticks(legend),
    classes,
    element('p', { className: 'limits' }, words.limits),
  ))
  box.ariaLabel = words.legend
  box.hidden = false
}

// levelsBeginAbove reports whether a limit belongs to the class below it, as in WHO 2021: then no step begins at it.
const levelsBeginAbove = ({ classes, steps }) => !classes.some(({ from }) => from !== null && steps.some((s) => s.from === from))

function range({ from, to }, above) {
  const r = above ? words.rangesAbove : words.ranges
  if (from === null) return r.first(number(to))
  return to === null ? r.last(number(from)) : r.middle(number(from), number(to))
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
  tick(max, 1)
  return row
}
