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

function judge({ who_level: level, risk, color }, classes) {
  const ofRisk = classes.find((c) => c.risk === risk)
  const ofColour = classes.find(({ colors }) => colors.includes(color))
  const reported = level > highestByValue || (ofColour !== undefined && ofColour !== ofRisk)
  if (ofRisk && ofColour?.level > ofRisk.level) return { reported, shown: { level: ofColour.level, risk: ofColour.risk, color } }
  // A colour of lower risk, or one that the legend does not know, is not that of the mark; the risk's own is.
  return { reported, shown: { level, risk, color: ofRisk && ofColour !== ofRisk ? ofRisk.color : color } }
}
