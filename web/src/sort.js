// The orders that the list can have.
import { language } from './words.js'

const byName = new Intl.Collator(language, { numeric: true }).compare
const name = (a, b) => byName(a.lake.name, b.lake.name)
const level = ({ lake }) => lake.shown?.level ?? -1 // what has no value stands last, and says so

/** Compares two entries, {lake, rank, distance}, in each of the orders. */
export const orders = {
  match: (a, b) => a.rank - b.rank || name(a, b),
  distance: (a, b) => a.distance - b.distance || name(a, b),
  value: (a, b) => level(b) - level(a) || (b.lake.chl ?? -1) - (a.lake.chl ?? -1) || name(a, b),
  name,
}

/** The order to take: the picked one where it makes sense, else that which answers what was typed. */
export function orderOf(picked, searched, near) {
  if (picked && (picked !== 'match' || searched)) return picked
  return searched ? 'match' : near ? 'distance' : 'value'
}
