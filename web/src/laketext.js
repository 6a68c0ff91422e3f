// Describes one lake, in the same words on its card, in the list and in the tooltip.
import { concentration, date, fill, words } from './words.js'

/** Returns the risk in words. Without a current value it is never today's risk, and the text says so first.
 * @param {Lake} lake */
export function riskText(lake) {
  if (lake.chl !== null) return lake.reported ? reportedRisk(lake) : words.risk[lake.risk ?? 'unknown']
  return `${words.common.noValue} (${lake.risk ? `${words.lake.lastRisk}: ${words.risk[lake.risk]}` : words.common.never})`
}

/** Puts the worse risk first. If that follows from the value, the reported risk comes after it. @param {Lake} lake */
const reportedRisk = ({ risk, display }) => (
  `${words.risk[display.risk]} (${words.lake.reported}${display.risk === risk ? '' : `: ${words.risk[risk]}`})`
)

/** Returns the text next to the name of a lake: its risk and value, and whether the value is old. @param {Lake} lake */
export const describeLake = (lake) => [riskText(lake), ...(lake.chl === null ? [] : value(lake))].join(', ')

const value = (lake) => [concentration(lake.chl), ...(lake.old ? [fill(words.lake.old, { date: date(lake.measured_at) })] : [])]

/** Returns the lake in one line, with its name, as plain text for screen readers. @param {Lake} lake */
export const summary = (lake) => `${lake.name}: ${describeLake(lake)}`
