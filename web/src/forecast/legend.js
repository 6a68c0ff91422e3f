// The legend of the forecast, which replaces that of the values.
import { byId, element } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { fill, number } from '../words.js'
import { text } from './words.js'

const tenths = Array.from({ length: 10 }, (_, i) => 10 * i) // %: all classes begin at one

/** Adds the legend, with the colours and the limit of the server. */
export async function addForecastLegend() {
  const { classes, limit_ug_l: limit, profile, no_data: none } = await fetchJSON('api/v1/legend.json?forecast=1')
  const bar = element('div', { className: 'bar', ariaHidden: 'true' }, ...tenths.map((from) => coloured(classes.findLast((c) => c.from <= from).color)))
  const scale = element('div', { className: 'ticks', ariaHidden: 'true' }, ...[...classes.map(({ from }) => from), 100].map((percent) => {
    const tick = element('span', {}, percent === 100 ? '100 %' : percent)
    tick.style.left = `${percent}%`
    return tick
  }))
  byId('legend').append(element('details', { id: 'ahead-legend', open: matchMedia('(min-width: 1600px)').matches },
    element('summary', {}, element('b', {}, text.legend), bar, scale),
    element('p', {}, fill(text.limit, { limit: number(limit), profile })),
    element('p', {}, coloured(none.color), ` ${text.none}`),
    element('p', {}, `${text.model} ${text.weather}`),
  ))
}

function coloured(color) {
  const span = element('span')
  span.style.background = color
  return span
}
