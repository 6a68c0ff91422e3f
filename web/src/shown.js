// What a lake is shown as: its level may have been reported, and its colour always tells its chlorophyll alone.
import { isOld, reference } from './age.js'

// Scum is seen by people, never concluded from chlorophyll (WHO 2003, chapter 8).
const highestByValue = 2

/**
 * Gives each lake that has a value `shown`, the level, risk and colour of its marker and its symbols, and `reported`,
 * which says whether its level came with the measurement instead of following from the chlorophyll. Where the two
 * differ the worse one is shown: scum in clear water must not look clean, and neither must a bloom that somebody
 * called harmless. Each lake gets `old`, whether its value was old in the week of that date.
 */
export function withShown(lakes, { classes }, date) {
  const from = reference(date)
  return lakes.map((lake) => ({
    ...lake, old: lake.measured_at !== null && isOld(lake.measured_at, from), ...(lake.chl === null ? {} : judge(lake, classes)),
  }))
}

function judge(lake, classes) {
  const told = { level: lake.who_level, risk: lake.risk, color: lake.color }
  const ofRisk = classes.find(({ risk }) => risk === lake.risk)
  const ofColour = classes.find(({ colors }) => colors.includes(lake.color))
  const reported = lake.who_level > highestByValue || (ofColour !== undefined && ofColour.risk !== lake.risk)
  if (!ofRisk || ofRisk.colors.includes(lake.color)) return { reported, shown: told }
  // A colour that the legend does not know says nothing; the risk does.
  if (!ofColour || ofRisk.level > ofColour.level) return { reported, shown: { ...told, color: ofRisk.color } }
  return { reported, shown: { level: ofColour.level, risk: ofColour.risk, color: lake.color } }
}
