// A spatial index of boxes: a grid of square cells.

const cell = 64 // px: few boxes lie in more than one cell

/** Reports whether two boxes overlap. @param {Box} a @param {Box} b */
export const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1]

/** Returns an empty index. */
export function boxIndex() {
  /** @type {Map<number, Box[]>} */
  const cells = new Map()
  /** @param {Box} box */
  const keysOf = ([left, top, right, bottom]) => {
    const keys = []
    for (let x = Math.floor(left / cell); x * cell < right; x++) {
      for (let y = Math.floor(top / cell); y * cell < bottom; y++) keys.push(x * 2 ** 24 + y) // at zoom 24 there are 2 ** 26 rows
    }
    return keys
  }
  return {
    /** @param {Box} box */
    add: (box) => keysOf(box).forEach((key) => cells.set(key, [...cells.get(key) ?? [], box])),
    /** @param {Box} box */
    overlapping: (box) => [...new Set(keysOf(box).flatMap((key) => (cells.get(key) ?? []).filter((other) => overlap(box, other))))],
  }
}
