// What is said of one lake: the same words in its card, in the list and under the pointer.
import { element, swatch } from './dom.js'
import { age, concentration, date, words } from './words.js'

/** The risk in words; without a current value that is never the risk of today, and says so first. */
export function riskInWords(lake) {
  if (lake.chl !== null) return lake.reported ? reportedRisk(lake) : words.risk[lake.risk ?? 'unknown']
  return lake.risk ? `${words.noValue} (${words.lastRisk}: ${words.risk[lake.risk]})` : `${words.noValue} (${words.never})`
}

// reportedRisk says the worse risk first; where that follows from the value, what was reported stands behind it.
const reportedRisk = ({ risk, shown }) => (
  shown.risk === risk ? `${words.risk[risk]} (${words.reported})` : `${words.risk[shown.risk]} (${words.reported}: ${words.risk[risk]})`
)

/** What is to be said of the lake beside its name, in one line. */
export const finding = (lake) => (lake.chl === null ? riskInWords(lake) : `${riskInWords(lake)}, ${concentration(lake.chl)}`)

/** The lake in one line. */
export const summary = (lake) => `${lake.name}: ${finding(lake)}`

/** The swatch of a lake: the colour it is shown in, or the ring that stands for no data. */
export const lakeSwatch = (lake) => (lake.chl === null ? swatch(lake.color, true) : swatch(lake.shown.color))

/** The card of a lake. It can take the focus, so that a screen reader reads it when it opens. */
export function card(lake) {
  const none = lake.chl === null
  const rows = element('dl')
  const row = (name, value) => rows.append(element('dt', {}, name), element('dd', {}, value))
  if (!none) row(words.chlorophyll, concentration(lake.chl))
  if (lake.who_level !== null) row(words.level, `${lake.who_level} ${words.of3}${lake.reported ? ` (${words.reported})` : ''}`)
  const when = lake.measured_at ? `${date(lake.measured_at)}, ${age(lake.measured_at)}` : words.never
  row(none ? words.lastMeasured : words.measured, when)
  if (none && lake.risk) row(words.lastRisk, words.risk[lake.risk])
  row(words.trophic, words.trophicNames[lake.trophic] ?? lake.trophic)
  return element('article', { className: 'card', tabIndex: -1, ariaLabel: summary(lake) },
    element('h2', {}, lake.name),
    element('p', { className: 'risk' }, lakeSwatch(lake), none ? words.noValue : riskInWords(lake)),
    element('p', {}, none ? words.noValueHelp : words.meaning[lake.shown.risk] ?? ''),
    ...(lake.reported ? [element('p', {}, lake.shown.risk === lake.risk ? words.reportedHelp : words.reportedLowerHelp)] : []),
    rows,
    element('a', { href: `api/v1/bathing-lakes/history/${encodeURIComponent(lake.id)}` }, words.history),
  )
}
