// Makes rivers.json, the large rivers of Europe, from the lines of GSHHG, which have no names. On Debian 12, with the packages gmt and gmt-gshhg-low:
//   gmt pscoast -R-25/55/34/72 -I1 -I2 -I3 -Di -M | node web/mkrivers.mjs > web/rivers.json
// and nearrivers.json, all rivers around Germany for a near map, with gmt-gshhg-high:
//   gmt pscoast -R5.5/15.5/47/55.2 -Ir -Dh -M | node web/mkrivers.mjs near > web/nearrivers.json
import { readFileSync } from 'node:fs'
import { encode, simplify } from './outlines.mjs'

const [nearTolerance, nearScale] = [0.005, 400] // degrees, a pixel at zoom 8, and steps of a degree
const tolerance = 0.08 // degrees: some pixels when Germany fills the screen, since a river is only for orientation
const nearest = 0.3 // degrees from a place below to its river
const widestGap = 0.35 // degrees: where the source has a lake or an estuary

/** Places on each river, as longitude and latitude, from its upper course on. @type {Record<string, number[][]>} */
const places = {
  Rhine: [[8.7, 47.7], [7.59, 47.57], [8.27, 50], [6.96, 50.94], [6, 51.87], [4.7, 51.82]],
  Moselle: [[6.45, 48.2], [6.17, 49.12], [6.64, 49.75], [7.6, 50.36]],
  Neckar: [[8.6, 48.2], [9.2, 48.8], [8.47, 49.5]],
  Main: [[11.2, 50.1], [10.9, 49.95], [9.93, 49.8], [8.68, 50.1], [8.3, 50]],
  Meuse: [[5.4, 48.6], [4.87, 50.46], [5.7, 50.85], [6.1, 51.5]],
  Ems: [[7.5, 52.1], [7.25, 52.9]],
  Weser: [[9.65, 51.42], [9, 52.3], [8.8, 53.08], [8.5, 53.4]],
  Elbe: [[15.8, 50.2], [14.2, 50.5], [13.74, 51.05], [11.64, 52.13], [10.2, 53.4]],
  Vltava: [[14.45, 48.95], [14.42, 50.08], [14.47, 50.35]],
  Oder: [[18.1, 49.9], [17.03, 51.11], [14.6, 52.35], [14.5, 53.3]],
  Warta: [[19.1, 50.8], [16.93, 52.4], [14.65, 52.6]],
  Vistula: [[19.2, 50.05], [21, 52.25], [18.6, 53.02], [18.85, 54.2]],
  Bug: [[24, 51.2], [23.6, 52.1], [20.9, 52.5]],
  Danube: [[8.9, 47.95], [10, 48.4], [12.1, 49.02], [13.47, 48.57], [16.37, 48.22], [19.05, 47.5], [20.5, 44.83], [22.5, 44.6], [25.9, 43.85], [28, 45.4], [29.4, 45.2]],
  Inn: [[10.6, 47.15], [11.4, 47.27], [12.1, 47.85], [13.45, 48.55]],
  Drava: [[13.85, 46.6], [15.65, 46.55], [18.7, 45.55]],
  Sava: [[15.98, 45.8], [18, 45.15], [20.4, 44.8]],
  Tisza: [[22.6, 48.1], [20.2, 47.18], [20.25, 45.3]],
  Po: [[7.4, 44.7], [7.7, 45.07], [9.7, 45.05], [11.6, 44.9], [12.3, 44.95]],
  Rhone: [[6.15, 46.2], [4.83, 45.75], [4.8, 43.95], [4.65, 43.6]],
  Loire: [[4.1, 45.5], [4, 46], [1.9, 47.9], [0.69, 47.4], [-1.55, 47.2]],
  Seine: [[4.55, 47.85], [4.07, 48.3], [2.35, 48.85], [1.1, 49.44]],
  Garonne: [[1.44, 43.6], [0.62, 44.2], [-0.5, 44.8]],
  Ebro: [[-3.9, 42.9], [-0.88, 41.65]],
  Douro: [[-4.7, 41.6], [-6.3, 41.25], [-8.4, 41.1]],
  Tagus: [[-2.4, 40.5], [-4.02, 39.86]],
  Tejo: [[-7, 39.65], [-8.7, 39.2]], // the same below its lakes
  Guadalquivir: [[-3.5, 38], [-4.78, 37.88], [-6, 37.35]],
  Thames: [[-1.9, 51.65], [-1.25, 51.73], [-0.6, 51.48]],
  Neman: [[25.8, 53.55], [23.9, 54.9], [22, 55.05]],
  Daugava: [[30.2, 55.2], [26.5, 55.87], [24.3, 56.9]],
  Dnieper: [[32.05, 54.78], [30.35, 53.9], [30.55, 50.45]],
  Dniester: [[24, 49.3], [27.5, 48.4], [29.6, 46.85]],
  Don: [[39, 52.6], [39.5, 51]],
}

/** @typedef {{point: number[], to: Map<Node, number>}} Node a point of the source, and how far its neighbours are */

/** @type {Map<string, Node>} */
const nodes = new Map()
/** @type {Set<Node>} */
const ends = new Set()
const far = (a, b) => Math.hypot((a[0] - b[0]) * Math.cos(a[1] * Math.PI / 180), a[1] - b[1])

function nodeAt(point) {
  const key = point.map((v) => v.toFixed(4)).join()
  if (!nodes.has(key)) nodes.set(key, { point, to: new Map() })
  return nodes.get(key)
}

function link(a, b, cost) {
  a.to.set(b, cost)
  b.to.set(a, cost)
}

const source = readFileSync(0, 'utf8').split(/^>.*$/m).map((text) => text.trim().split('\n').map((row) => row.split('\t').map(Number)).filter((point) => point.length > 1))
for (const points of source) {
  const line = points.map(nodeAt)
  line.slice(1).forEach((node, i) => link(node, line[i], far(node.point, line[i].point)))
  for (const end of line.length ? [line[0], line.at(-1)] : []) ends.add(end)
}
for (const end of [...ends].filter(({ to }) => to.size === 1)) {
  for (const other of nodes.values()) {
    const gap = far(end.point, other.point)
    if (gap < widestGap && other !== end && !end.to.has(other)) link(end, other, 10 * gap) // the last resort
  }
}

/** Returns the shortest way along rivers between two places (Dijkstra 1959). */
function way(name, from, to) {
  const [start, goal] = [from, to].map((place) => {
    const node = [...nodes.values()].reduce((best, n) => (far(n.point, place) < far(best.point, place) ? n : best))
    if (far(node.point, place) > nearest) throw new Error(`${name}: no river at ${place}`)
    return node
  })
  const reached = new Map([[start, { cost: 0, before: null }]])
  const open = new Set([start])
  while (open.size) {
    const node = [...open].reduce((best, n) => (reached.get(n).cost < reached.get(best).cost ? n : best))
    if (node === goal) break
    open.delete(node)
    for (const [next, cost] of node.to) {
      const sum = reached.get(node).cost + cost
      if (sum < (reached.get(next)?.cost ?? Infinity)) {
        reached.set(next, { cost: sum, before: node })
        open.add(next)
      }
    }
  }
  if (!reached.has(goal)) throw new Error(`${name}: no way from ${from} to ${to}`)
  const points = []
  for (let node = goal; node; node = reached.get(node).before) points.unshift(node.point)
  return points
}

const large = () => encode(Object.entries(places).map(([name, on]) => simplify(on.slice(1).flatMap((place, i) => way(name, on[i], place)), tolerance)), 20)
const near = () => encode(source.filter((line) => line.length).map((line) => simplify(line, nearTolerance)), nearScale)
process.stdout.write(`${JSON.stringify(process.argv[2] === 'near' ? near() : large())}\n`)
