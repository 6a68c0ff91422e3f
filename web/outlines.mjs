// Makes the outlines that stand in for a basemap from Natural Earth: Germany at 1:10 million, Europe at 1:50 million, the
// rest of the world, which nothing but orients, at 1:110 million. No country floats alone, and all of it is smaller
// than a photograph.
import { createRequire } from 'node:module'
import * as topojson from 'topojson-client'

const require = createRequire(import.meta.url)

const germany = '276' // ISO 3166-1 numeric
const europe = [-25, 34, 45, 72] // west, south, east, north
// Degrees that an outline may be off: of Europe a pixel or two where Germany fills a screen, of Germany where a district
// does, of the rest where a continent does.
const offNear = 0.05
const offHome = 0.004
const offFar = 0.5
// The world without Europe. The boxes meet exactly: the page fills all rings as one, by the even-odd rule.
const elsewhere = [[-180, -85, 180, 34], [-180, 72, 180, 85], [-180, 34, -25, 72], [45, 34, 180, 72]]

/** The file that src/outlines.js draws. */
export function outlines() {
  const [fine, medium, coarse] = ['countries-10m', 'countries-50m', 'land-110m'].map((n) => require(`world-atlas/${n}.json`))
  const countries = medium.objects.countries
  const near = rings(topojson.merge(medium, countries.geometries)).flatMap(unrolled).map((ring) => simplified(ring, offNear))
  const far = rings(topojson.feature(coarse, coarse.objects.land).features[0].geometry).flatMap(unrolled).map((ring) => simplified(ring, offFar))
  // Simplified first and clipped then: the stretches along a box's side that a ring goes there and back have to cover
  // each other exactly.
  const borders = topojson.mesh(medium, countries, (a, b) => a !== b && a.id !== germany && b.id !== germany)
  const home = fine.objects.countries.geometries.find(({ id }) => id === germany)
  const land = [
    ...near.map((ring) => clipped(ring, europe)).filter((ring) => extent(ring) > 0.2), // lesser islands are dots at best
    ...elsewhere.flatMap((box) => far.map((ring) => clipped(ring, box))).filter((ring) => extent(ring) > 2),
  ]
  return {
    land: encoded(land, 50), // 0.02 degrees are 2 km: as fine as the source
    borders: encoded(borders.coordinates.filter((line) => line.some((p) => within(p, europe))).map((line) => simplified(line, offNear)), 50),
    germany: encoded(rings(topojson.feature(fine, home).geometry).map((ring) => simplified(ring, offHome)), 500),
  }
}

// rings returns the rings, outer and inner: the Caspian Sea is one of the inner.
const rings = ({ type, coordinates }) => (type === 'Polygon' ? coordinates : coordinates.flat())

// unrolled has a ring that crosses the antimeridian, where the source jumps to the other side of the map, go on beyond it,
// and gives it once more for each side. A ring around the pole is closed along the lower edge.
function unrolled(ring) {
  let turn = 0
  const whole = ring.map(([x, y], i) => {
    const step = i > 0 ? x - ring[i - 1][0] : 0
    if (Math.abs(step) > 180) turn -= Math.sign(step) * 360
    return [x + turn, y]
  })
  if (turn !== 0) whole.push([whole.at(-1)[0], -90], [whole[0][0], -90])
  return [-360, 0, 360].map((by) => whole.map(([x, y]) => [x + by, y]))
}

const within = ([x, y], [west, south, east, north]) => x >= west && x <= east && y >= south && y <= north

function extent(ring) {
  const span = (axis) => Math.max(...ring.map((p) => p[axis])) - Math.min(...ring.map((p) => p[axis]))
  return ring.length < 3 ? 0 : Math.max(span(0), span(1))
}

// clipped cuts a ring at each side of the box in turn (Sutherland and Hodgman 1974).
function clipped(ring, [west, south, east, north]) {
  const sides = [[0, 1, west], [0, -1, east], [1, 1, south], [1, -1, north]]
  return sides.reduce((points, [axis, sign, limit]) => {
    const inside = (p) => sign * (p[axis] - limit) >= 0
    return points.flatMap((p, i) => {
      const q = points[(i + points.length - 1) % points.length]
      if (inside(p) === inside(q)) return inside(p) ? [p] : []
      const share = (limit - q[axis]) / (p[axis] - q[axis])
      const cut = [q[0] + share * (p[0] - q[0]), q[1] + share * (p[1] - q[1])]
      return inside(p) ? [cut, p] : [cut]
    })
  }, ring)
}

// simplified leaves out the points that lie nearer than the tolerance to the line without them (Douglas and Peucker 1973).
function simplified(line, tolerance) {
  const [first, last] = [line[0], line.at(-1)]
  const [most, at] = line.reduce(([far, place], p, i) => {
    const d = distance(p, first, last)
    return d > far ? [d, i] : [far, place]
  }, [0, 0])
  if (most <= tolerance) return line.length > 1 ? [first, last] : line
  return [...simplified(line.slice(0, at + 1), tolerance), ...simplified(line.slice(at), tolerance).slice(1)]
}

// distance is that of a point from a stretch of line, in degrees.
function distance([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay]
  const along = dx || dy ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy))) : 0
  return Math.hypot(x - ax - along * dx, y - ay - along * dy)
}

// encoded writes each line as the whole-number steps from point to point, a third of the size of GeoJSON.
function encoded(lines, scale) {
  const steps = (line) => {
    let last = [0, 0]
    return line.flatMap((point) => {
      const next = point.map((v) => Math.round(v * scale))
      const step = [next[0] - last[0], next[1] - last[1]]
      last = next
      return step[0] === 0 && step[1] === 0 ? [] : step
    })
  }
  return { scale, lines: lines.map(steps) }
}
