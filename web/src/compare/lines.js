// The lines of the compared lakes: each has dashes, a sign and a letter of its own, so that nobody needs the colours.

/** The letters, which stand at the ends of the lines. */
export const letters = [...'ABCDEFGH']

const maxSigns = 8 // on a line
const letterHeight = 12

/** The signs: a disc, a square, two triangles, a diamond, two bars and a cross. */
const signs = ['m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0', 'm-3-3h6v6h-6z', 'm0-4l4 7h-8z', 'm0-4l4 4l-4 4l-4-4z',
  'm0 4l4-7h-8z', 'm-4-1.5h8v3h-8z', 'm-1.5-4h3v8h-3z', 'm-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z']

/** Returns the values that make the line of a lake: those of satellites, or samples of a lake without any.
 * @param {Entry[]} entries */
export function lineOf(entries) {
  const measured = entries.filter((e) => e.chl !== null && !e.forecast && e.quality !== 'poor')
  const seen = measured.filter((e) => !e.sample)
  return seen.length > 0 ? seen : measured
}

/** Returns the path of the sign of line i at a point. @param {number} i @param {string} at */
export const signAt = (i, at) => `M${at}${signs[i]}`

/** Returns every n-th of some entries and the last one, few enough that the line between their signs remains visible.
 * @param {Entry[]} entries */
export function signed(entries) {
  const step = Math.ceil(entries.length / maxSigns)
  return entries.filter((_, i) => (entries.length - 1 - i) % step === 0)
}

/**
 * Returns the heights at which letters stand: each as near to its own as it can be without touching another one.
 * @param {number[]} heights @param {number} highest @param {number} lowest
 */
export function spread(heights, highest, lowest) {
  const order = [...heights.keys()].sort((a, b) => heights[a] - heights[b])
  const placed = [...heights]
  order.forEach((i, n) => { placed[i] = Math.max(highest, placed[i], n > 0 ? placed[order[n - 1]] + letterHeight : -Infinity) })
  order.reverse().forEach((i, n) => { placed[i] = Math.min(placed[i], n > 0 ? placed[order[n - 1]] - letterHeight : lowest) })
  return placed
}
