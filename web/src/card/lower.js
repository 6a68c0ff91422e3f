// The nearest lakes with a lower risk, on the card of a lake with medium or high risk, or one that is closed.
import { classifyLakes, riskClass } from '../classify.js'
import { element } from '../dom.js'
import { describeLake } from '../laketext.js'
import { symbol } from '../symbols.js'
import { date, number } from '../words.js'
import { cardWords } from './words.js'

const shown = 3
const range = 50 // km, a day trip
const asked = 100 // lakes
const levels = { low: 0, medium: 1, high: 2, closed: 1 } // a closed lake has only lakes of low risk beside it

/**
 * Shows them below what the value means. The function that it returns takes the lake and the date of the view; a past week has none, because nobody
 * can go there. A lake counts with a current value only, and without an official warning.
 * @param {HTMLElement} article @param {Legend} legend
 */
export function cardLower(article, legend) {
  const box = element('section', { className: 'lower', hidden: true, ariaLabel: cardWords.lower.heading })
  article.querySelector('[data-fact=notes]').after(box)
  let known = '' // the lake and value for which the box is filled
  return async (/** @type {Lake} */ lake, /** @type {string | null} */ week) => {
    const level = week === null ? levels[riskClass(lake)] ?? 0 : 0
    const key = `${lake.id} ${level} ${lake.measured_at}`
    if (key === known) return
    known = key
    box.hidden = true
    if (level === 0) return
    const lower = await lowerLakes(lake, level, legend).catch(() => []) // the card is complete without them
    if (key !== known || lower.length === 0) return
    box.replaceChildren(element('h3', {}, cardWords.lower.heading), ...lower.map(button), element('p', {}, cardWords.lower.note))
    box.hidden = false
  }
}

/** @param {Lake} lake @param {number} level @param {Legend} legend @returns {Promise<(Lake & {distance_km: number})[]>} */
async function lowerLakes({ id, lat, lon }, level, legend) {
  const answer = await fetch(`api/v1/bathing-lakes/near?${new URLSearchParams(/** @type {any} */ ({ lat, lon, radius_km: range, limit: asked }))}`)
  if (!answer.ok) throw answer
  return lowerThan(level, id, classifyLakes((await answer.json()).lakes, legend, null))
}

/** Returns the first lakes of a list with a lower level: with a value that is not old, and without a closure or a warning.
 * @template {Lake} T @param {number} level @param {string} id of the lake on the card @param {T[]} lakes @returns {any[]} */
export const lowerThan = (level, id, lakes) => (
  lakes.filter((lake) => lake.id !== id && !lake.old && !lake.warned && levels[riskClass(lake)] < level && !lake.closed).slice(0, shown)
)

function button(lake) {
  const onclick = () => {
    const view = new URLSearchParams(location.hash.slice(1))
    view.set('lake', lake.id)
    location.hash = `${view}` // the page follows its address
  }
  const away = `${number(Math.round(lake.distance_km * 10) / 10)}\u00a0km`
  return element('button', { type: 'button', onclick }, symbol(lake), element('span', {}, element('bdi', {}, lake.name), element('small', {}, `${describeLake(lake)} · ${date(lake.measured_at)} · ${away}`)))
}
