// Decides which lakes have a mark, and which marks have room for their full size. The others are small, next to a worse one.
import { boxIndex } from './boxindex.js'

/** Pixels around the pointer: a target of 28 px, however small the mark is. */
export const hitRadius = 14

const margin = 2 // px around a mark
const [mediumZoom, noneZoom, fullZoom] = [8, 9, 11] // a half zoom of a phone, such as 7.5, counts as the whole zoom below it

/** Reports whether a lake has a mark at a zoom: a closed one and one of high risk at every zoom, one of medium risk or with a warning
 * from zoom 8, one without a value from zoom 9, all from zoom 11. Below, the heat map shows the others. @param {Lake} lake @param {number} zoom */
export const hasMark = (lake, zoom) => rank(lake) > (zoom < mediumZoom ? 1 : zoom < noneZoom ? 0.5 : zoom < fullZoom ? 0 : -1)

/**
 * Returns the marks of lakes, worst first. Closed lakes come before all others and always have their full size. Lakes without a
 * value come before those of low risk, so that neither a bloom nor an unknown lake makes room for a clean neighbour. The radius is 0 where
 * the lake has no mark. Below zoom 9 each mark lies on its lake. From zoom 9 another mark without room is drawn small. Both lie
 * next to the marks in their way; no mark disappears. Up to zoom 10 the mark of a lake of medium risk is hollow, because in the heat map such
 * a lake is no larger than its mark, unless the heat map shows the lake better than it is. The result depends only on the zoom, so that nothing changes while the map is moved.
 * @param {Lake[]} lakes
 * @param {(lake: Lake) => {x: number, y: number}} project onto the plane of the map's layers
 * @param {number} zoom
 * @param {(lake: Lake) => boolean} isChosen by the user: it has a mark at every zoom, which is not hollow
 * @returns {Mark[]}
 */
export function declutter(lakes, project, zoom, isChosen) {
  // Radii in px. Up to zoom 10 the marks are small, so that the heat map stays visible, and the worst are the largest; a hollow one surrounds its lake.
  const large = Math.min(10, Math.max(6, (8 + 2 * zoom) / 3))
  const [small, quiet, medium] = zoom < fullZoom ? [3, 3, 5] : [4.5, large, large]
  const radius = (lake) => (lake.closed ? large + 2 : rank(lake) > 1 ? large : rank(lake) < 1 ? quiet : medium)
  const taken = boxIndex()
  return lakes.toSorted((a, b) => rank(b) - rank(a) || b.chl - a.chl).map((lake) => {
    const { x, y } = project(lake)
    const chosen = isChosen(lake)
    const hollow = !chosen && zoom < fullZoom && rank(lake) === 1 && !lake.warned && !lake.worse
    const r = !chosen && !hasMark(lake, zoom) ? 0 : hollow ? large - 1 : radius(lake)
    let mark = { lake, x, y, r, full: true, hollow }
    if (zoom < noneZoom || !r) return mark
    const others = taken.overlapping(boxAround(mark))
    if (others[0]) {
      if (!lake.closed) mark = { ...mark, r: small, full: false, hollow: false }
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

/**
 * Returns the lake nearest to a point, not the topmost mark, which in a dense area may be another lake than the user meant. Lakes without
 * a mark count too. Marks count from their edge, so that a mark is not lost among them, but not hollow ones, in which other lakes are seen. Of two at the same distance the worse one is returned.
 * `crowded` tells that others are as near and that it has no mark, or below zoom 9, where marks may overlap, two have one: nobody can mean one of them.
 * @param {Mark[]} marks @param {{x: number, y: number}} point @param {number} zoom @returns {{ lake?: Lake, crowded: boolean }}
 */
export function lakeNear(marks, { x, y }, zoom) {
  let [least, found, n, marked] = [hitRadius, /** @type {Mark | null} */ (null), 0, 0]
  for (const m of marks) {
    const distance = Math.hypot(m.x - x, m.y - y)
    if (distance >= hitRadius) continue
    n++
    if (m.r) marked++
    const fromEdge = distance - (m.hollow ? 0 : m.r)
    if (fromEdge < least) [least, found] = [fromEdge, m]
  }
  return { lake: found?.lake, crowded: n > 1 && (!found?.r || zoom < noneZoom && marked > 1) }
}

/** Returns the square that a mark needs, with a margin. @param {{x: number, y: number, r: number}} mark @returns {Box} */
export const boxAround = ({ x, y, r }) => [x - r - margin, y - r - margin, x + r + margin, y + r + margin]

/** Returns the radius of the ring around the mark of the selected lake. @param {{r: number}} mark */
export const ringRadius = ({ r }) => Math.max(10, r + 6)

// rank orders lakes: closed, then by level, where a warning counts as medium risk and no value comes between low and medium.
const rank = (lake) => (lake.closed ? 9 : Math.max(lake.display?.level ?? 0.5, lake.warned ? 1 : 0))
