// Which lakes have room for a mark of full size, and which stay small beside a worse one.
import { boxes } from './boxes.js'

/**
 * Places lakes on the plane of the map's layers, worst first: [{lake, x, y, r, full}]. Those without a value come before
 * those of low risk, so that neither a bloom nor a gap in what is known gives way to a clean neighbour. What has no room
 * becomes small and stands beside what has it, and never vanishes. It depends on the zoom alone, so that nothing changes
 * while the map is moved.
 */
export function thin(lakes, map) {
  const near = Math.min(1, Math.max(0, (map.getZoom() - 5) / 6))
  const large = 6 + 4 * near // radii: from afar they leave the heat to be seen, and from near they can be read
  const small = 2.4 + 2.1 * near
  const taken = boxes()
  return lakes.toSorted((a, b) => rank(b) - rank(a) || b.chl - a.chl).map((lake) => {
    const place = { lake, ...map.project(lake).subtract(map.getPixelOrigin()), r: large, full: true }
    const box = around(place)
    const others = taken.met(box)
    if (others.length > 0) return { ...aside(place, others, large + small), r: small, full: false }
    taken.add(box)
    return place
  })
}

// aside moves a place out from under others, just so far that both are seen.
function aside(place, others, distance) {
  let { x, y } = place
  for (const [left, top, right, bottom] of others) {
    const [dx, dy] = [x - (left + right) / 2, y - (top + bottom) / 2]
    const now = Math.hypot(dx, dy)
    if (now >= distance) continue
    // Two at one place part downwards.
    x += now > 0 ? dx / now * (distance - now) : 0
    y += now > 0 ? dy / now * (distance - now) : distance
  }
  return { ...place, x, y }
}

/** The square that a mark takes, its edge and some air included. */
export const around = ({ x, y, r }) => [x - r - 2, y - r - 2, x + r + 2, y + r + 2]

/** How far the ring goes round the mark of the chosen lake. */
export const ringRadius = ({ r }) => Math.max(10, r + 6)

const rank = (lake) => lake.shown?.level ?? 0.5
