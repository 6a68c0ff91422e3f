// What is said of one lake: the same words in its card, in the list and under the pointer.
import { concentration, date, fill, words } from './words.js'

/** The risk in words; without a current value that is never the risk of today, and says so first. */
export function riskInWords(lake) {
  if (lake.chl !== null) return lake.reported ? reportedRisk(lake) : words.risk[lake.risk ?? 'unknown']
  return lake.risk ? `${words.common.noValue} (${words.lake.lastRisk}: ${words.risk[lake.risk]})` : `${words.common.noValue} (${words.common.never})`
}

// reportedRisk says the worse risk first; where that follows from the value, what was reported stands behind it.
const reportedRisk = ({ risk, shown }) => (
  shown.risk === risk ? `${words.risk[risk]} (${words.lake.reported})` : `${words.risk[shown.risk]} (${words.lake.reported}: ${words.risk[risk]})`
)

/** What is to be said of the lake beside its name, in one line; an old value says that it is. */
export const finding = (lake) => [riskInWords(lake), ...(lake.chl === null ? [] : value(lake))].join(', ')

const value = (lake) => [concentration(lake.chl), ...(lake.old ? [fill(words.lake.old, { date: date(lake.measured_at) })] : [])]

/** The lake in one line. */
export const summary = (lake) => `${lake.name}: ${finding(lake)}`
