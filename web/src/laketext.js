// Describes one lake, in the same words on its card, in the list and in the tooltip.
import { riskClass } from './classify.js'
import { concentration, date, fill, words } from './words.js'

/** Returns in words that an authority closed the lake or warns; otherwise an empty text. @param {Lake} lake */
export const officialText = ({ closed, warned, advisory }) => (closed || warned ? words.advisory.kinds[advisory.kind] : '')

/** Returns the risk in words, and what made it worse than the value. Without a current value it is never today's risk, and the
 * text says so first. @param {Lake} lake */
export function riskText(lake) {
  if (lake.chl !== null) return words.risk[lake.risk ?? 'unknown'] + (lake.worse ? ` (${words.lake[lake.worse]})` : '')
  return `${words.common.noValue} (${lake.risk ? fill(words.lake.lastKnown, { risk: words.riskShort[lake.risk] }) : words.common.never})`
}

/** Returns what the verdict on a lake follows from, by its name in the words: what an authority says, else its current value, unless that is old. An
 * old or missing value never says that the water is fine, and an old bloom is not taken to be over. @param {Lake} lake */
export function verdictOf(lake) {
  if (!lake.closed && lake.warned) return 'warned'
  if (!lake.closed && lake.chl !== null && lake.old) return lake.risk === 'high' ? 'oldHigh' : 'old'
  return riskClass(lake)
}

/** Returns what a verdict means for one of the people in the words. Where the last known risk is medium or worse, an old or missing value is no better
 * for children and dogs than a new one of medium risk. @param {Lake} lake @param {string} who */
export function adviceOf(lake, who) {
  const look = who !== 'swimmer' && (lake.risk === 'medium' || lake.risk === 'high') ? 'medium' : 'look'
  return words.people[who][{ closed: 'no', warned: 'no', high: 'no', oldHigh: 'no', old: look, none: look }[verdictOf(lake)] ?? riskClass(lake)]
}

/** Returns whether to swim, in words. @param {Lake} lake */
export const verdictText = (lake) => words.verdict[verdictOf(lake)]

/** Returns the text next to the name of a lake: what an authority says, its risk and value, and whether the value is old.
 * @param {Lake} lake */
export function describeLake(lake) {
  const official = officialText(lake)
  return (official && `${official} · ${words.advisory.algae}${words.common.colon}`) + [riskText(lake), ...(lake.chl === null ? [] : value(lake))].join(', ')
}

const value = (lake) => [concentration(lake.chl), ...(lake.old ? [fill(words.lake.old, { date: date(lake.measured_at) })] : [])]

/** Returns the lake in one line, with its name, as plain text for screen readers. @param {Lake} lake */
export const summary = (lake) => lake.name + words.common.colon + describeLake(lake)
