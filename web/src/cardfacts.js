// What a card says first: the risk, how old it is, and what that means for who wants to bathe.
import { age, reference } from './age.js'
import { element } from './dom.js'
import { riskInWords } from './lake.js'
import { symbol } from './symbols.js'
import { concentration, date, fill, words } from './words.js'

/** The facts of a lake as they were in the week of `week`, null being the newest, by their names in the card. */
export function cardFacts(lake, week) {
  const { card, common } = words
  const none = lake.chl === null
  // Reckoned from today, also in a past week: a measurement does not become younger by being looked for.
  const ago = lake.measured_at && age(lake.measured_at, reference(null))
  const then = lake.old || week ? ` (${ago})` : '' // no old risk stands there like today's
  return {
    name: lake.name,
    past: week && fill(common.pastWeek, { date: date(week) }),
    risk: [symbol(lake), none ? common.noValue : riskInWords(lake) + then],
    age: ago ? [
      `${none ? card.lastMeasured : common.measured} `, element('strong', {}, ago), ', ',
      element('time', { dateTime: lake.measured_at }, date(lake.measured_at)),
    ] : common.never,
    meaning: meaning(lake, week).join(' '),
    chlorophyll: none ? null : concentration(lake.chl),
    level: lake.who_level === null ? null : fill(card.levelOf, { level: lake.who_level }) + (lake.reported ? ` (${words.lake.reported})` : ''),
    lastRisk: none && lake.risk ? words.risk[lake.risk] : null,
    trophic: card.trophicNames[lake.trophic] ?? lake.trophic,
  }
}

// meaning never says of what was once that it is so now.
function meaning(lake, week) {
  const { card } = words
  if (lake.chl === null) return [card.noValueHelp]
  const said = [(lake.old || week ? card.meaningThen : card.meaning)[lake.shown.risk] ?? '']
  if (lake.old) said.push(card.oldHelp)
  if (lake.reported) said.push(lake.shown.risk === lake.risk ? card.reportedHelp : card.reportedLowerHelp)
  return said
}
