// Decides which lakes have room for a mark of full size. The others get a small mark next to a worse one.
import { boxIndex } from './boxindex.js'

const margin = 2 // px around a mark

/**
 * Returns the marks of lakes, worst first. Closed lakes come before all others and always have their full size. Lakes without a
 * value come before those of low risk, so that neither a bloom nor an unknown lake makes room for a clean neighbour. Another mark
 * without room is drawn small. Both lie next to the marks in their way; no mark disappears. The result depends only on the zoom, so that nothing changes while the map is moved.
 * @param {Lake[]} lakes
 * @param {(lake: Lake) => {x: number, y: number}} project onto the plane of the map's layers
 * @param {number} zoom
 * @returns {Mark[]}
 */
export function declutter(lakes, project, zoom) {
  const near = Math.min(1, Math.max(0, (zoom - 5) / 6))
  const large = 6 + 4 * near // radii in px: small at low zooms, so that the heat map stays visible
  const small = 2.4 + 2.1 * near
  const taken = boxIndex()
  return lakes.toSorted((a, b) => rank(b) - rank(a) || b.chl - a.chl).map((lake) => {
    const { x, y } = project(lake)
    let mark = { lake, x, y, r: lake.closed ? large + 2 : large, full: true }
    const others = taken.overlapping(boxAround(mark))
    if (others.length > 0) {
      if (!lake.closed) mark = { ...mark, r: small, full: false }
      mark = moveAside(mark, others)
    }
    if (mark.full) taken.add(boxAround(mark))
    return mark
  })
}

// moveAside moves a mark away from others, whose boxes are given, just far enough that all are visible.
function moveAside(mark, others) {
  let { x, y } = mark
  for (const [left, top, right, bottom] of others) {
    const distance = (right - left) / 2 - margin + mark.r
    const [dx, dy] = [x - (left + right) / 2, y - (top + bottom) / 2]
    const now = Math.hypot(dx, dy)
    if (now >= distance) continue
    // A mark at the same position moves down.
    x += now > 0 ? dx / now * (distance - now) : 0
    y += now > 0 ? dy / now * (distance - now) : distance
  }
  return { ...mark, x, y }
}

/** Returns the square that a mark needs, with a margin. @param {{x: number, y: number, r: number}} mark @returns {Box} */
export const boxAround = ({ x, y, r }) => [x - r - margin, y - r - margin, x + r + margin, y + r + margin]

/** Returns the radius of the ring around the mark of the selected lake. @param {{r: number}} mark */
export const ringRadius = ({ r }) => Math.max(10, r + 6)

const rank = (lake) => (lake.closed ? 9 : lake.display?.level ?? 0.5)
