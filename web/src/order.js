// The orders of the list of lakes.

const level = ({ lake }) => (lake.closed ? 9 : lake.display?.level ?? -1)

/** Compares two entries in each order. By value, closed lakes come first, and lakes without a value last.
 * @type {Record<string, (a: Found, b: Found) => number>} */
export const orders = {
  value: (a, b) => level(b) - level(a) || b.lake.chl - a.lake.chl,
  distance: (a, b) => a.distance - b.distance,
  name: () => 0, // equal entries are sorted by name
}
