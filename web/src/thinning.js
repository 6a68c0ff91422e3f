// Which lakes have room for a mark of full size, and which stay small beside a worse one.
import { boxes } from './boxes.js'

/**
 * Places lakes on the plane of a zoom, worst first: [{lake, x, y, r, full}]. Those without a value come before those of
 * low risk, so that neither a bloom nor a gap in what is known gives way to a clean neighbour. What has no room becomes
 * small, and never vanishes. It depends on the zoom alone, so that nothing changes while the map is moved.
 */
export function thin(lakes, project, zoom) {
  const { large, small } = sizes(zoom)
  const taken = boxes()
  return lakes.toSorted((a, b) => rank(b) - rank(a) || (b.chl ?? 0) - (a.chl ?? 0)).map((lake) => {
    const { x, y } = project([lake.lat, lake.lon], zoom)
    const box = around({ x, y, r: large })
    const full = !taken.meets(box)
    if (full) taken.add(box)
    return { lake, x, y, full, r: full ? large : small }
  })
}

/** The square that a mark takes, its edge and some air included. */
export const around = ({ x, y, r }) => [x - r - 2, y - r - 2, x + r + 2, y + r + 2]

/** How far the ring goes round the mark of the chosen lake. */
export const ringRadius = ({ r }) => Math.max(10, r + 6)

const rank = (lake) => lake.shown?.level ?? 0.5

// sizes are the radii of marks: from afar they leave the heat to be seen, and from near they can be read.
function sizes(zoom) {
  const near = Math.min(1, Math.max(0, (zoom - 5) / 6))
  return { large: 6 + 4 * near, small: 2.4 + 2.1 * near }
}
