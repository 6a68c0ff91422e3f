const cell = 64 // px: few boxes share one

/** Boxes on a plane of which is known at once which ones another, [left, top, right, bottom], meets. */
export function boxes() {
  const cells = new Map()
  const each = function* ([left, top, right, bottom]) {
    for (let x = Math.floor(left / cell); x * cell < right; x++) {
      for (let y = Math.floor(top / cell); y * cell < bottom; y++) yield x * 2 ** 24 + y // at zoom 24 there are 2 ** 26
    }
  }
  const add = (box) => {
    for (const key of each(box)) {
      if (cells.has(key)) cells.get(key).push(box)
      else cells.set(key, [box])
    }
  }
  const met = (box) => {
    const found = new Set()
    for (const key of each(box)) {
      for (const b of cells.get(key) ?? []) if (b[0] < box[2] && b[2] > box[0] && b[1] < box[3] && b[3] > box[1]) found.add(b)
    }
    return [...found]
  }
  return { add, met }
}
