// Matches lakes with a search text and sorts them.
import { rank, spellings } from './fold.js'

/** @import {Found, Lake, Lakes} from './types' */

const noMatch = 3

/**
 * Returns the loaded lakes whose names contain one of the queries, and the lakes that the server found.
 * @param {Lakes} loaded
 * @param {string[]} queries folded
 * @param {Lake[]} remote
 */
export function matchLakes({ lakes, byId }, queries, remote) {
  /** @type {Map<string, Found>} */
  const found = new Map(remote.map((lake) => [lake.id, { lake: byId.get(lake.id) ?? lake, rank: noMatch }]))
  for (const lake of lakes) {
    lake.spellings ??= spellings(lake.name) // folded once per lake, not once per key press
    const at = rank(lake.spellings, queries)
    if (at < noMatch) found.set(lake.id, { lake, rank: at })
  }
  return [...found.values()]
}

const level = ({ lake }) => lake.display?.level ?? -1

/**
 * Compares two entries in each order. Lakes without a value come last.
 * @type {Record<string, (a: Found, b: Found) => number>}
 */
export const orders = {
  value: (a, b) => level(b) - level(a) || b.lake.chl - a.lake.chl,
  distance: (a, b) => a.distance - b.distance,
  name: () => 0, // equal entries are sorted by name
}
