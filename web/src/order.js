// The orders of the list of lakes.

const level = ({ lake }) => (lake.closed ? 9 : lake.display?.level ?? -1)

// How far a lake is from one with a low risk today. An old value tells little about the water, a missing one nothing, and an official
// statement more than any.
const doubt = ({ lake: { closed, warned, chl, old } }) => (closed ? 4 : warned ? 3 : chl === null ? 2 : old ? 1 : 0)

/** Compares two entries in each order. By value, closed lakes come first, and lakes without a value last. By the lowest risk, those with a
 * current value come first, and in each class the nearest.
 * @type {Record<string, (a: Found, b: Found) => number>} */
export const orders = {
  value: (a, b) => level(b) - level(a) || b.lake.chl - a.lake.chl,
  clean: (a, b) => doubt(a) - doubt(b) || level(a) - level(b) || a.distance - b.distance || a.lake.chl - b.lake.chl,
  distance: (a, b) => a.distance - b.distance,
  name: () => 0, // equal entries are sorted by name
}
