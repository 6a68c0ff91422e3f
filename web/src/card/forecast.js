// limnomap's own forecast in words: its coming week, what it is made of and what it is worth.
import { ageInDays, now } from '../calendar.js'
import { count, date, fill, number, words } from '../words.js'
import { isolated } from './entries.js'
import { cardWords } from './words.js'

/**
 * Returns lines about the forecast of a lake; none if the server has no forecast. If it is withheld, or all its days are over, one line
 * says so.
 * @param {{entries: Entry[], forecast?: LakeForecast | null}} history @param {number} [today]
 */
export function forecastLines({ entries, forecast }, today = now()) {
  if (!forecast) return []
  const text = cardWords.forecast
  const { withheld, skill, issued_at: issued, based_on: basis } = forecast
  const coming = entries.find((e) => e.issued_at)
  if (withheld) return [fill(text.none, { why: text.withheld[withheld] ?? withheld })]
  if (!coming) return [fill(text.none, { why: fill(text.over, { date: date(issued) }) })]
  const closer = skill?.weeks.find(({ week }) => week === 1)?.closer_percent ?? null
  const where = skill?.region ? fill(text.region, { region: isolated(skill.region) }) : text.everywhere
  return [
    fill(text.coming, { date: date(coming.time), chances: chances(coming.probabilities) }),
    text.model,
    closer !== null && fill(closer > 0 ? text.closer : text.notCloser, { where, percent: number(Math.round(closer)) }),
    fill(text.basis, { date: date(basis), age: count(words.offline.age, ageInDays(basis, today)) }),
  ].filter(Boolean)
}

/**
 * Returns probabilities in tenths that add up to ten: 7 in 10: low; 3 in 10: medium or high. A high risk of a tenth or more is named apart.
 * Less than a tenth is never none, and more than nine tenths are never all.
 * @param {{low: number, medium: number}} probabilities the rest is high
 */
export function chances({ low, medium }) {
  const { forecast } = cardWords
  const { riskShort } = words
  const [toLow, toMedium] = [low, low + medium].map((p) => Math.round(10 * p))
  /** @type {[number, string][]} */
  const parts = toMedium < 10
    ? [[toLow, riskShort.low], [toMedium - toLow, riskShort.medium], [10 - toMedium, riskShort.high]]
    : [[toLow, riskShort.low], [10 - toLow, forecast.worse]]
  return parts.map(([n, risk]) => fill(forecast.tenths, { n: { 0: forecast.rarely, 10: forecast.mostly }[n] ?? n, risk })).join('; ')
}
