import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxIndex } from '../src/boxindex.js'
import { boxAround, declutter, ringRadius } from '../src/declutter.js'
import { labelBoxes } from '../src/labels.js'

const lake = (id, x, y, level, chl) => /** @type {Lake} */ (/** @type {unknown} */ ({ id, x, y, chl, ...(chl !== null && { display: { level } }) }))
const project = (l) => ({ x: l.x, y: l.y })
const lakeRadius = declutter([lake('a', 0, 0, 0, 3)], project, 9)[0].r

test('boxes that overlap', () => {
  const index = boxIndex()
  /** @type {Box[]} */
  const boxes = [[0, 0, 10, 10], [100, 100, 300, 110], [-70, -70, -60, -60]]
  for (const box of boxes) index.add(box)
  assert.deepEqual(index.overlapping([5, 5, 6, 6]), [boxes[0]])
  assert.deepEqual(index.overlapping([10, 0, 20, 10]), [], 'a common edge is no overlap')
  assert.deepEqual(index.overlapping([250, 90, 500, 200]), [boxes[1]], 'a box in several cells is found once')
  assert.deepEqual(new Set(index.overlapping([-100, -100, 400, 400])), new Set(boxes))
})

test('the worst mark keeps its size and place, and no mark disappears', () => {
  const marks = declutter([lake('clean', 0, 1, 0, 3), lake('none', 0, -1, 0, null), lake('bloom', 0, 0, 2, 80), lake('same', 0, 0, 2, 70), lake('alone', 500, 0, 0, 3)], project, 9)
  assert.deepEqual(marks.map((m) => [m.lake.id, m.full]), [['bloom', true], ['same', false], ['none', false], ['clean', false], ['alone', true]])
  const [bloom, ...others] = marks
  assert.deepEqual([bloom.x, bloom.y], [0, 0])
  for (const m of others) {
    assert.ok(Math.hypot(m.x, m.y) >= bloom.r + m.r - 1e-9, `${m.lake.id} is hidden`)
    assert.ok(m.full || m.r < bloom.r)
  }
})

test('a closed lake keeps its full size, also next to another one', () => {
  const closed = (id, x, chl) => ({ ...lake(id, x, 0, 0, chl), closed: true })
  const marks = declutter([lake('bloom', -5, 0, 2, 80), closed('a', 0, 3), closed('b', 5, null)], project, 9)
  assert.deepEqual(marks.map((m) => [m.lake.id, m.full]), [['a', true], ['b', true], ['bloom', false]])
  assert.ok(marks[0].r > lakeRadius && marks[1].r === marks[0].r)
  for (const [i, j] of [[0, 1], [0, 2], [1, 2]]) {
    assert.ok(Math.hypot(marks[i].x - marks[j].x, marks[i].y - marks[j].y) >= marks[i].r + marks[j].r - 1e-9, `${i} covers ${j}`)
  }
})

test('marks grow with the zoom, within bounds', () => {
  const radius = (zoom) => declutter([lake('a', 0, 0, 0, 3)], project, zoom)[0].r
  assert.deepEqual([radius(2), radius(5), radius(8), radius(11), radius(18)], [6, 6, 8, 10, 10])
  assert.deepEqual(boxAround({ x: 0, y: 0, r: 6 }), [-8, -8, 8, 8])
  assert.deepEqual([ringRadius({ r: 2 }), ringRadius({ r: 10 })], [10, 16])
})

test('labels lie beside their marks', () => {
  const mark = { x: 0, y: 0, r: 10 }
  for (const [l, t, r, b] of labelBoxes(mark, 50, 20)) {
    assert.deepEqual([r - l, b - t], [50, 20])
    assert.ok(l >= 10 || r <= -10 || t >= 10 || b <= -10, 'covers the mark')
  }
})
