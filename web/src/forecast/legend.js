// The legend of the forecast, which replaces that of the values.
import { byId, element } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { fill, number } from '../words.js'
import { text } from './words.js'

const ticks = [0, 25, 50, 75, 100] // %

/** Adds the legend, with the colours and the limit of the server. */
export async function addForecastLegend() {
  const { steps, limit_ug_l: limit, profile, no_data: none } = await fetchJSON('api/v1/legend.json?forecast=1')
  const bar = element('div', { className: 'bar', ariaHidden: 'true' }, ...steps.map(({ color }) => coloured(color)))
  const scale = element('div', { className: 'ticks', ariaHidden: 'true' }, ...ticks.map((percent) => {
    const tick = element('span', {}, `${percent} %`)
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
