import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxIndex } from '../src/boxindex.js'
import { boxAround, declutter, hasMark, lakeNear, ringRadius } from '../src/declutter.js'
import { drawLabels, labelBoxes } from '../src/labels.js'

const lake = (id, x, y, level, chl) => /** @type {Lake} */ (/** @type {unknown} */ ({ id, x, y, chl, ...(chl !== null && { display: { level } }) }))
const project = (l) => ({ x: l.x, y: l.y })
const all = () => true
const lakeRadius = declutter([lake('a', 0, 0, 2, 80)], project, 9, all)[0].r

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
  const marks = declutter([lake('clean', 0, 1, 0, 3), lake('none', 0, -1, 0, null), lake('bloom', 0, 0, 2, 80), lake('same', 0, 0, 2, 70), lake('alone', 500, 0, 0, 3)], project, 9, all)
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
  const marks = declutter([lake('bloom', -5, 0, 2, 80), closed('a', 0, 3), closed('b', 5, null)], project, 9, all)
  assert.deepEqual(marks.map((m) => [m.lake.id, m.full]), [['a', true], ['b', true], ['bloom', false]])
  assert.ok(marks[0].r > lakeRadius && marks[1].r === marks[0].r)
  for (const [i, j] of [[0, 1], [0, 2], [1, 2]]) {
    assert.ok(Math.hypot(marks[i].x - marks[j].x, marks[i].y - marks[j].y) >= marks[i].r + marks[j].r - 1e-9, `${i} covers ${j}`)
  }
})

test('marks grow with the zoom, within bounds, and up to zoom 10 the worst are the largest', () => {
  const radius = (zoom, level, chl) => declutter([lake('a', 0, 0, level, chl)], project, zoom, all)[0].r
  assert.deepEqual([2, 5, 8, 11, 18].map((zoom) => radius(zoom, 2, 80)), [6, 6, 8, 10, 10])
  for (const zoom of [8, 9, 10.5]) {
    const [high, medium, low] = [2, 1, 0].map((level) => radius(zoom, level, 80))
    assert.ok(high > medium && medium > low && low === radius(zoom, undefined, null), `at zoom ${zoom} the radii are ${[high, medium, low]}`)
  }
  assert.deepEqual([2, 1, 0].map((level) => radius(11, level, 80)), [10, 10, 10])
  assert.deepEqual(boxAround({ x: 0, y: 0, r: 6 }), [-8, -8, 8, 8])
  assert.deepEqual([ringRadius({ r: 2 }), ringRadius({ r: 10 })], [10, 16])
})

test('the worst lakes have marks at every zoom, all from zoom 11, and half zooms count as the whole ones below', () => {
  const warned = { ...lake('warned', 0, 0, 0, 3), warned: true }
  const closed = { ...lake('closed', 0, 0, 0, null), closed: true }
  for (const [zooms, want] of /** @type {[number[], string[]][]} */ ([
    [[2, 7, 7.5], ['closed', 'scum', 'high']],
    [[8, 8.5], ['closed', 'scum', 'high', 'medium', 'warned']],
    [[9, 9.5, 10.5], ['closed', 'scum', 'high', 'medium', 'warned', 'none']],
    [[11, 14], ['closed', 'scum', 'high', 'medium', 'warned', 'none', 'low']],
  ])) {
    for (const zoom of zooms) {
      const lakes = [closed, lake('scum', 0, 0, 3, 3), lake('high', 0, 0, 2, 80), lake('medium', 0, 0, 1, 20), warned, lake('none', 0, 0, 0, null), lake('low', 0, 0, 0, 3)]
      assert.deepEqual(lakes.filter((l) => hasMark(l, zoom)).map((l) => l.id), want, `zoom ${zoom}`)
    }
  }
})

test('a mark of medium risk surrounds its lake up to zoom 10, unless the heat map shows the lake better than it is or the user chose it', () => {
  const medium = lake('medium', 0, 0, 1, 20)
  const [worse, warned] = [{ ...lake('worse', 50, 0, 1, 3), worse: 'report' }, { ...lake('warned', 100, 0, 0, 3), warned: true }]
  const closed = { ...lake('closed', 150, 0, 1, 20), closed: true }
  const marks = (zoom, isChosen = (_) => false) => declutter(/** @type {any} */ ([medium, worse, warned, closed, lake('high', 200, 0, 2, 80), lake('none', 250, 0, 0, null)]), project, zoom, isChosen)
  const hollow = (found) => found.filter((m) => m.r && m.hollow).map((m) => m.lake.id)
  for (const zoom of [8, 9.5, 10.5]) {
    assert.deepEqual(hollow(marks(zoom)), ['medium'], `zoom ${zoom}`)
    assert.deepEqual(hollow(marks(zoom, (l) => l === medium)), [], `zoom ${zoom}`)
    const [m, high] = ['medium', 'high'].map((id) => marks(zoom).find((mark) => mark.lake.id === id))
    assert.ok(m.r >= 7 && m.r < high.r, `at zoom ${zoom} it has a radius of ${m.r}`)
  }
  assert.deepEqual([7.5, 11].map((zoom) => hollow(marks(zoom))), [[], []])
  const [first, second] = declutter([medium, lake('near', 3, 0, 1, 15)], project, 9, () => false)
  assert.deepEqual([first.hollow, second.hollow, second.full], [true, false, false], 'a small mark is not hollow, as it lies beside its lake')
})

test('below zoom 9 every mark lies on its lake, and lakes without a mark can still be hit there', () => {
  const lakes = [lake('bloom', 0, 0, 2, 80), lake('next', 3, 0, 2, 70), lake('clean', 0, 2, 0, 3), { ...lake('closed', 1, 1, 0, 3), closed: true }]
  for (const zoom of [5, 8.5]) {
    const marks = declutter(lakes, project, zoom, () => false)
    for (const m of marks) {
      assert.deepEqual([m.x, m.y, m.full], [.../** @type {any} */ ([m.lake]).flatMap((l) => [l.x, l.y]), true])
      assert.equal(m.r > 0, m.lake.id !== 'clean')
    }
    assert.deepEqual(marks.map((m) => m.lake.id), ['closed', 'bloom', 'next', 'clean'])
  }
  assert.ok(declutter(lakes, project, 9, all).some((m) => !m.full), 'from zoom 9 a mark without room is small')
})

test('labels lie beside their marks, within the map', () => {
  const mark = { x: 0, y: 0, r: 10 }
  for (const [l, t, r, b] of labelBoxes(mark, 50, 20, [-100, -100, 100, 100])) {
    assert.deepEqual([r - l, b - t], [50, 20])
    assert.ok(l >= 10 || r <= -10 || t >= 10 || b <= -10, 'covers the mark')
  }
  for (const [x, y] of [[0, 0], [200, 0], [0, 100], [200, 100], [3, 50]]) {
    const boxes = labelBoxes({ x, y, r: 10 }, 50, 20, [0, 0, 200, 100])
    assert.ok(boxes.every(([l, t, r, b]) => l >= 0 && t >= 0 && r <= 200 && b <= 100), `a label of a mark at ${[x, y]} is clipped`)
    assert.ok(boxes.some(([l, t, r, b]) => l >= x + 10 || r <= x - 10 || t >= y + 10 || b <= y - 10), `each label of a mark at ${[x, y]} covers it`)
  }
})

test('a point among several lakes means none of them if none has a mark, or two have one', () => {
  const mark = (id, x, r) => /** @type {any} */ ({ lake: { id }, x, y: 0, r })
  for (const [name, marks, want, crowded] of /** @type {const} */ ([
    ['one lake without a mark', [mark('a', 3, 0)], 'a', false],
    ['two without a mark', [mark('a', 3, 0), mark('b', -5, 0)], 'a', true],
    ['a mark beside a lake without one', [mark('a', 9, 6), mark('b', -5, 0)], 'a', false],
    ['two marks', [mark('a', 0, 6), mark('b', 8, 6)], 'a', true],
    ['two marks side by side, which are seen apart', [mark('a', 0, 8), mark('b', 18, 8)], 'a', false],
  ])) assert.deepEqual((({ lake: l, crowded: c }) => [l?.id, c])(lakeNear([...marks], { x: 0, y: 0 }, 8)), [want, crowded], name)
  assert.deepEqual(lakeNear([mark('far', 99, 6)], { x: 0, y: 0 }, 8), { lake: undefined, crowded: false })
  assert.equal(lakeNear([mark('a', 0, 6), mark('b', 8, 6)], { x: 0, y: 0 }, 9).crowded, false, 'from zoom 9 on marks lie side by side')
})

test('large lakes have names before small ones, whatever their values, once the sizes are known', () => {
  const names = (zoom, areas) => {
    const written = []
    const ctx = new Proxy({}, { get: (_, name) => (name === 'fillText' ? (text) => written.push(text) : name === 'measureText' ? () => ({ width: 20 }) : () => {}), set: () => true })
    const map = { getZoom: () => zoom, getContainer: () => ({ getBoundingClientRect: () => ({ left: 0, top: 0, width: 500, height: 500 }) }), mouseEventToLayerPoint: ({ clientX: x, clientY: y }) => ({ x, y }) }
    const mark = (name, y, level, others) => ({ lake: { id: name, name, chl: 5, display: { level, risk: 'low' }, ...others }, x: 100, y, r: level ? 6 : 0, full: true })
    const marks = [mark('closed', 50, 0, { closed: true }), mark('bad', 150, 2), mark('small', 250, 0), mark('large', 350, 0), mark('larger', 450, 0)]
    globalThis.document.querySelectorAll = /** @type {any} */ (() => [])
    drawLabels(/** @type {any} */ (ctx), /** @type {any} */ (marks), /** @type {any} */ (map), undefined, { ink: '', paper: '', size: 12 }, areas)
    return written
  }
  const areas = new Map([['small', 2], ['large', 12], ['larger', 90], ['bad', 0.5]])
  assert.deepEqual(names(9, undefined), ['closed', 'bad'], 'while the sizes are not known')
  assert.deepEqual(names(9, areas), ['closed', 'larger', 'large'])
  assert.deepEqual(names(10, new Map([...areas, ['small', 4]])), ['closed', 'larger', 'large', 'small'])
  assert.deepEqual(names(8, areas), [], 'far away')
  assert.equal(names(11, areas).length, 10, 'near, all have a name and a value')
})
