// Makes the outlines for maps without a basemap from Natural Earth: Germany at 1:10 million, Europe at 1:50 million, the rest
// of the world at 1:110 million. The large rivers of Europe are from GSHHG: rivers.json, which mkrivers.mjs makes.
import { createRequire } from 'node:module'
import * as topojson from 'topojson-client'

const require = createRequire(import.meta.url)

const germany = '276' // ISO 3166-1 numeric
const europe = [-25, 34, 45, 72] // west, south, east, north
// Tolerances in degrees: a pixel or two, in Europe when Germany fills the screen, in Germany when a district does, elsewhere
// when a continent does.
const toleranceEurope = 0.05
const toleranceGermany = 0.004
const toleranceWorld = 0.5
// The world without Europe. The boxes must meet exactly: the page fills all rings as one shape, by the even-odd rule.
const outsideEurope = [[-180, -85, 180, 34], [-180, 72, 180, 85], [-180, 34, -25, 72], [45, 34, 180, 72]]

/** Returns the content of the file that src/outlines.js draws. */
export function outlines() {
  const [fine, medium, coarse] = ['countries-10m', 'countries-50m', 'land-110m'].map((n) => require(`world-atlas/${n}.json`))
  const countries = medium.objects.countries
  const near = rings(topojson.merge(medium, countries.geometries)).flatMap(unroll).map((ring) => simplify(ring, toleranceEurope))
  const far = rings(topojson.feature(coarse, coarse.objects.land).features[0].geometry).flatMap(unroll).map((ring) => simplify(ring, toleranceWorld))
  // Rings are simplified before they are clipped, because parts that run along the same side of a box must match exactly.
  const borders = topojson.mesh(medium, countries, (a, b) => a !== b && a.id !== germany && b.id !== germany)
  const germanyFine = fine.objects.countries.geometries.find(({ id }) => id === germany)
  const land = [
    ...near.map((ring) => clip(ring, europe)).filter((ring) => extent(ring) > 0.2), // smaller islands would be dots
    ...outsideEurope.flatMap((box) => far.map((ring) => clip(ring, box))).filter((ring) => extent(ring) > 2),
  ]
  return {
    land: encode(land, 50), // 0.02 degrees or 2 km, the resolution of the source
    borders: encode(borders.coordinates.filter((line) => line.some((p) => within(p, europe))).map((line) => simplify(line, toleranceEurope)), 50),
    germany: encode(rings(topojson.feature(fine, germanyFine).geometry).map((ring) => simplify(ring, toleranceGermany)), 500),
    rivers: require('./rivers.json'),
  }
}

// rings returns outer and inner rings. The Caspian Sea is an inner ring.
const rings = ({ type, coordinates }) => (type === 'Polygon' ? coordinates : coordinates.flat())

// unroll continues a ring beyond the antimeridian, where the source jumps to the other side of the map, and returns it three
// times: in place, and shifted by a turn to each side. A ring around the pole is closed along the lower edge.
function unroll(ring) {
  let turn = 0
  const whole = ring.map(([x, y], i) => {
    const step = i > 0 ? x - ring[i - 1][0] : 0
    if (Math.abs(step) > 180) turn -= Math.sign(step) * 360
    return [x + turn, y]
  })
  if (turn !== 0) whole.push([whole.at(-1)[0], -90], [whole[0][0], -90])
  return [-360, 0, 360].map((by) => whole.map(([x, y]) => [x + by, y]))
}

/** Reports whether a point is in a box. @param {number[]} point @param {number[]} box */
const within = ([x, y], [west, south, east, north]) => x >= west && x <= east && y >= south && y <= north

function extent(ring) {
  const span = (axis) => Math.max(...ring.map((p) => p[axis])) - Math.min(...ring.map((p) => p[axis]))
  return ring.length < 3 ? 0 : Math.max(span(0), span(1))
}

/** Cuts a ring at each side of a box in turn (Sutherland and Hodgman 1974). @param {number[][]} ring @param {number[]} box */
function clip(ring, [west, south, east, north]) {
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

// simplify removes points that lie nearer than the tolerance to the simplified line (Douglas and Peucker 1973).
export function simplify(line, tolerance) {
  const [first, last] = [line[0], line.at(-1)]
  const [farthest, at] = line.reduce(([max, index], p, i) => {
    const d = distance(p, first, last)
    return d > max ? [d, i] : [max, index]
  }, [0, 0])
  if (farthest <= tolerance) return line.length > 1 ? [first, last] : line
  return [...simplify(line.slice(0, at + 1), tolerance), ...simplify(line.slice(at), tolerance).slice(1)]
}

// distance returns the distance of a point from a line segment, in degrees.
function distance([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay]
  const along = dx || dy ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy))) : 0
  return Math.hypot(x - ax - along * dx, y - ay - along * dy)
}

// encode returns each line as whole-number steps from point to point, which needs a third of the bytes of GeoJSON.
export function encode(lines, scale) {
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
