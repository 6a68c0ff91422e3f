const cell = 64 // px: few boxes share one

/** Boxes on a plane of which is known at once which ones another, [left, top, right, bottom], meets. */
export function boxes() {
  const cells = new Map()
  const cellsOf = ([left, top, right, bottom]) => {
    const keys = []
    for (let x = Math.floor(left / cell); x * cell < right; x++) {
      for (let y = Math.floor(top / cell); y * cell < bottom; y++) keys.push(x * 2 ** 24 + y) // at zoom 24 there are 2 ** 26
    }
    return keys
  }
  const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1]
  return {
    add: (box) => cellsOf(box).forEach((key) => cells.set(key, [...cells.get(key) ?? [], box])),
    met: (box) => [...new Set(cellsOf(box).flatMap((key) => (cells.get(key) ?? []).filter((other) => overlap(box, other))))],
  }
}
