// What is known of a lake from all its values, on its card: its season with the values of the year, where the newest value stands, its trend, and the weeks
// with many algae by year. It is a script of its own, which loads when a reader opens that part.
import { element, svg } from '../dom.js'
import { fill, language, number } from '../words.js'
import css from './known.css'
import { comparedTexts, dayOfYear, knownTexts } from './text.js'

const sheet = new CSSStyleSheet()
sheet.replaceSync(css)
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]

const [width, height, left, right, top, bottom] = [300, 150, 30, 296, 6, 132] // of the season
const [barStep, barHeight, floor, maxBars] = [24, 80, 64, 12]
const yearDays = 365

/**
 * Fills the part of a card.
 * @param {HTMLElement} box @param {string} id @param {Page} page @param {Record<string, string>} text
 */
export async function showKnown(box, id, { legend }, text) {
  const get = async (path) => {
    const answer = await fetch(`api/v1/bathing-lakes/${path}`)
    if (!answer.ok) throw answer
    return answer.json()
  }
  const lake = encodeURIComponent(id)
  const compared = get(`accuracy?lake=${lake}`).catch(() => ({ groups: [] })) // the rest is complete without it
  const { together } = await get(`statistics/${lake}`)
  const parts = []
  if (together?.band.length > 0) {
    const { history } = await get(`history/${lake}?from=${together.last.slice(0, 4)}-01-01`)
    parts.push(
      seasonFigure(together.band, history.filter((e) => e.chl !== null && e.data_type !== 'ai_forecast' && e.quality !== 'poor'), legend, text),
      element('p', { className: 'key' }, fill(text.key, { year: together.last.slice(0, 4) })),
    )
  }
  parts.push(...[...knownTexts(together, text), ...comparedTexts(await compared, text)].map((line) => element('p', {}, line)))
  if (together?.years.length > 0) parts.push(element('h3', {}, text.weeks), bars(together.years, legend, text))
  if (parts.length === 0) parts.push(element('p', {}, text.few))
  box.replaceChildren(/** @type {any} */ (box.firstElementChild), ...parts)
}

const path = (className, d) => svg('path', { class: className, d })

function textAt(x, y, content, className = '') {
  const e = svg('text', { x, y, class: className })
  e.append(content)
  return e
}

// seasonFigure draws the band of the season, and the values of the year in front of it, on a logarithmic axis.
function seasonFigure(band, entries, legend, text) {
  const values = [...entries.map((e) => e.chl), ...band.map((p) => p.p90)]
  const [min, max] = [legend.min, Math.max(legend.max, ...values)]
  const x = (day) => (left + (day - 1) / (yearDays - 1) * (right - left)).toFixed(1)
  const y = (chl) => (bottom - Math.min(1, Math.max(0, Math.log(chl / min) / Math.log(max / min))) * (bottom - top)).toFixed(1)
  const runs = [] // of points that follow each other
  for (const p of band) {
    if (p.day - runs.at(-1)?.at(-1).day <= 7) runs.at(-1).push(p)
    else runs.push([p])
  }
  const area = (low, high) => runs.map((run) => `M${[...run.map((p) => `${x(p.day)} ${y(p[high])}`), ...run.map((p) => `${x(p.day)} ${y(p[low])}`).reverse()].join('L')}z`).join('')
  const name = new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' })
  const limits = legend.classes.map(({ to }) => to).filter((to) => to !== null)
  return svgOf(width, height, text.season, [
    ...limits.flatMap((to) => [path('limit', `M${left} ${y(to)}H${right}`), textAt(left - 4, Number(y(to)) + 4, number(to), 'tick')]),
    ...[0, 3, 6, 9].map((month) => textAt(x(dayOfYear(`2023-${String(month + 1).padStart(2, '0')}-01`)), height - 4, name.format(Date.UTC(2023, month)))),
    path('limit', `M${left} ${bottom}H${right}`),
    path('wide', area('p10', 'p90')), path('narrow', area('p25', 'p75')),
    path('median', runs.map((run) => `M${run.map((p) => `${x(p.day)} ${y(p.p50)}`).join('L')}`).join('')),
    path('value', entries.map((e) => `M${x(dayOfYear(e.date))} ${y(e.chl)}h0`).join('')),
  ])
}

function svgOf(wide, high, label, parts) {
  const e = svg('svg', { viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': label })
  e.append(...parts)
  return element('div', { className: 'picture' }, e)
}

// bars draws the weeks with a medium risk, and above them those with a high one.
function bars(all, { classes }, text) {
  const years = all.slice(-maxBars)
  const colorOf = (risk) => classes.find((c) => c.risk === risk).color
  const y = (weeks) => floor - weeks / 53 * (floor - 14)
  const label = years.map(({ year, weeks_low: low, weeks_medium: medium, weeks_high: high }) => fill(text.year, { year, n: medium + high, weeks: low + medium + high }))
  const parts = years.flatMap(({ year, weeks_medium: medium, weeks_high: high }, i) => {
    const at = i * barStep
    const bar = (risk, from, to) => {
      const e = path('bar', from < to ? `M${at + 4} ${y(from)}H${at + barStep - 4}V${y(to)}H${at + 4}z` : '')
      e.style.fill = colorOf(risk)
      return e
    }
    return [bar('medium', 0, medium), bar('high', medium, medium + high), textAt(at + barStep / 2, y(medium + high) - 3, String(medium + high)), textAt(at + barStep / 2, barHeight - 4, `’${String(year).slice(2)}`)]
  })
  return svgOf(maxBars * barStep, barHeight, label.join('; '), [path('limit', `M0 ${floor}H${years.length * barStep}`), ...parts])
}
