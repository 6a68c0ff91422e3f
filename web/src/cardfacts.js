// The facts on a card: whether to swim, what an authority says, the risk, how old it is, and what it means for bathers.
import { ageText, referenceTime } from './calendar.js'
import { element } from './dom.js'
import { adviceOf, riskText, verdictOf, verdictText } from './laketext.js'
import { statementFacts } from './statement.js'
import { symbol } from './symbols.js'
import { cellLimits, concentration, date, figure, fill, words } from './words.js'

/** Returns the facts of a lake in the week of `week`, null for the newest, by their names in the card.
 * @param {Lake} lake @param {string | null} week */
export function cardFacts(lake, week) {
  const { card, common, advisory } = words
  const official = lake.closed || lake.warned
  const noValue = lake.chl === null
  // The age counts to today, also in a past week.
  const age = lake.measured_at && ageText(lake.measured_at, referenceTime(null))
  const ageNote = lake.old || week ? ` (${age})` : '' // an old risk must not look like today's
  return {
    name: lake.name,
    ...(week ? {} : answer(lake)), // nobody can swim in a past week
    past: week && fill(common.pastWeek, { date: date(week) }),
    ...statementFacts(lake.advisory ? [lake.advisory] : []),
    risk: [
      official ? advisory.algae + common.colon : '', symbol({ ...lake, closed: false, warned: false }), // what the values say, whatever an authority says
      noValue ? common.noValue : riskText(lake) + ageNote,
    ],
    age: age ? [
      `${noValue ? card.lastMeasured : common.measured} `, element('strong', {}, age), ', ',
      element('time', { dateTime: lake.measured_at }, date(lake.measured_at)), card.by[lake.measured_by] ?? '',
    ] : common.never,
    meaning: meaning(lake, week).join(' '),
    chlorophyll: noValue ? null : concentration(lake.chl),
    level: lake.who_level === null ? null : fill(lake.who_level ? card.levelOf : card.levelNone, { level: lake.who_level, risk: words.riskShort[lake.risk] }) + (lake.worse ? ` (${words.lake[lake.worse]})` : ''),
    lastRisk: noValue && lake.risk ? words.riskShort[lake.risk] : null,
    trophic: card.trophicNames[lake.trophic] ?? lake.trophic,
  }
}

// answer returns whether to swim, and the advice to each person.
function answer(lake) {
  const sign = symbol(lake)
  const verdict = element('strong', { className: `verdict ${verdictOf(lake)}` }, sign, verdictText(lake))
  verdict.style.setProperty('--colour', sign.style.getPropertyValue('--colour'))
  return { verdict, people: Object.keys(words.people).flatMap((who) => [element('dt', {}, words.people[who].name), element('dd', {}, adviceOf(lake, who))]) }
}

/** Returns what the risk means, in the past tense for an old value or a past week. Few algae are only what was measured, never a clearance.
 * @param {Lake} lake @param {string | null} week */
export function meaning(lake, week) {
  const { card, advisory } = words
  if (lake.chl === null) return [card.noValueHelp]
  const { risk } = lake.display
  const sample = lake.measured_by === 'in_situ' ? 'Sample' : ''
  const lulls = risk === 'low' && (lake.closed || lake.warned)
  const meanings = lake.old || week ? card.pastMeaning : card.meaning
  const sentences = [(lulls ? advisory[`lowHelp${sample}`] : meanings[risk + sample] ?? meanings[risk]) ?? '']
  if (lake.old) sentences.push(card.oldHelp)
  if (lake.worse) sentences.push(fill(card.worseHelp[lake.worse], { cells: figure(lake.cell_density_cells_ml, cellLimits) }))
  if (lake.cell_density_by === 'index') sentences.push(card.index)
  return sentences
}
