// What a card says first: the risk, how old it is, and what that means for who wants to bathe.
import { age, reference } from './age.js'
import { element } from './dom.js'
import { riskInWords } from './lake.js'
import { symbol } from './symbols.js'
import { concentration, date, fill, words } from './words.js'

/** The facts of a lake as they were in the week of `week`, null being the newest; `newest` leads back to that. */
export function cardFacts(lake, week, newest) {
  const none = lake.chl === null
  const parts = []
  if (week) {
    parts.push(element('p', { className: 'warning' }, fill(words.common.pastWeek, { date: date(week) }), ' ',
      element('button', { type: 'button', onclick: newest }, words.card.now)))
  }
  const then = !none && (lake.old || week) ? ` (${age(lake.measured_at, reference(null))})` : '' // no old risk stands there like today's
  parts.push(element('p', { className: 'risk' }, symbol(lake), none ? words.common.noValue : riskInWords(lake) + then))
  parts.push(whenMeasured(lake, none))
  parts.push(...meaning(lake, week).map((text) => element('p', {}, text)))
  const rows = element('dl')
  const row = (name, value) => rows.append(element('dt', {}, name), element('dd', {}, value))
  if (!none) row(words.common.chlorophyll, concentration(lake.chl))
  if (lake.who_level !== null) {
    row(words.card.level, fill(words.card.levelOf, { level: lake.who_level }) + (lake.reported ? ` (${words.lake.reported})` : ''))
  }
  if (none && lake.risk) row(words.lake.lastRisk, words.risk[lake.risk])
  row(words.card.trophic, words.card.trophicNames[lake.trophic] ?? lake.trophic)
  return [...parts, rows]
}

// whenMeasured reckons from today, also in a past week: a measurement does not become younger by being looked for.
function whenMeasured(lake, none) {
  if (!lake.measured_at) return element('p', { className: 'age' }, words.common.never)
  return element('p', { className: lake.old ? 'age warning' : 'age' },
    `${none ? words.card.lastMeasured : words.common.measured} `,
    element('strong', {}, age(lake.measured_at, reference(null))), ', ',
    element('time', { dateTime: lake.measured_at }, date(lake.measured_at)))
}

// meaning never says of what was once that it is so now.
function meaning(lake, week) {
  if (lake.chl === null) return [words.card.noValueHelp]
  const then = lake.old || week
  const said = [(then ? words.card.meaningThen : words.card.meaning)[lake.shown.risk] ?? '']
  if (lake.old) said.push(words.card.oldHelp)
  if (lake.reported) said.push(lake.shown.risk === lake.risk ? words.card.reportedHelp : words.card.reportedLowerHelp)
  return said
}
