const cell = 64 // px: few boxes share one

/** Boxes on a plane of which is known at once whether another, [left, top, right, bottom], meets one of them. */
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
  const meets = (box) => {
    for (const key of each(box)) {
      if (cells.get(key)?.some((b) => b[0] < box[2] && b[2] > box[0] && b[1] < box[3] && b[3] > box[1])) return true
    }
    return false
  }
  return { add, meets }
}
