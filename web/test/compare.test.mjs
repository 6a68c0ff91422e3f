import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparedLakes } from '../src/compare/lakes.js'
import { lineOf, signed, spread } from '../src/compare/lines.js'
import { formatView, parseView } from '../src/view.js'
import { byYear, highest } from '../src/years/split.js'

test('the compared lakes and the open one, at most eight', () => {
  for (const [name, compare, lake, want] of /** @type {[string, string | null, string | null, string[]][]} */ ([
    ['only the open one', 'a', 'a', ['a']], ['the open one is added', 'b,c', 'a', ['b', 'c', 'a']], ['the order of choice stays', 'a,b,c', 'b', ['a', 'b', 'c']],
    ['a ninth replaces the first', 'a,b,c,d,e,f,g,h', 'i', ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']],
    ['too many in the address', 'a,b,c,d,e,f,g,h,i,j', 'a', ['a', 'd', 'e', 'f', 'g', 'h', 'i', 'j']],
    ['none open', 'a,b,c,d', null, ['a', 'b', 'c', 'd']], ['twice and empty', 'a,,a,b', 'b', ['a', 'b']], ['none', null, null, []],
  ])) assert.deepEqual(comparedLakes({ compare, lake }), want, name)
})

test('the address holds them', () => {
  const ids = [...'stuvwxy', 'de_be-z.1'].map((id) => id.padEnd(64, '0')).join()
  const address = formatView({ .../** @type {ViewState} */ ({ lat: null, lon: null, zoom: null }), lake: 'a', compare: ids })
  assert.equal(address, `#lake=a&compare=${ids}`)
  assert.deepEqual(parseView(address.slice(1)), { lake: 'a', compare: ids })
  assert.deepEqual(parseView(`compare=${'x'.repeat(600)}`), {})
})

test('letters at the ends of the lines do not touch', () => {
  for (const heights of [[20, 100], [50, 50, 50, 50], [16, 17, 18, 19], [160, 159, 158, 157], [100, 16, 160, 100], Array(8).fill(90)]) {
    const placed = spread(heights, 16, 160)
    const sorted = [...placed].sort((a, b) => a - b)
    for (let i = 1; i < sorted.length; i++) assert.ok(sorted[i] - sorted[i - 1] >= 12, `${heights}: ${placed}`)
    assert.ok(sorted[0] >= 16 && sorted.at(-1) <= 160, `${heights}: ${placed}`)
  }
  assert.deepEqual(spread([20, 100, 60], 16, 160), [20, 100, 60], 'those with room stay')
})

test('a line has the values of satellites, or samples without any, and signs at its end', () => {
  const e = (chl, fields = {}) => /** @type {any} */ ({ chl, forecast: false, sample: false, ...fields })
  const [seen, sample] = [e(1), e(2, { sample: true })]
  assert.deepEqual(lineOf([seen, sample, e(null), e(3, { forecast: true }), e(4, { quality: 'poor' })]), [seen])
  assert.deepEqual(lineOf([sample]), [sample])
  const many = Array.from({ length: 104 }, (_, i) => e(i))
  assert.deepEqual([signed(many).length, signed(many).at(-1), signed([seen]), signed([])], [8, many.at(-1), [seen], []])
})

test('years over one another have the same days, counted from the first of January', () => {
  const entry = (date, chl) => /** @type {any} */ ({ date, time: Date.parse(date), chl })
  const entries = [entry('2022-07-04', 9), entry('2024-07-01', 5), entry('2025-07-07', 30), entry('2026-07-06', 8), entry('2026-08-03', 12)]
  const years = byYear(entries, 2026)
  assert.deepEqual(years.map((year) => year.map(({ time, chl }) => `${new Date(time).toISOString().slice(5, 10)} ${chl}`)), [['07-06 8', '08-03 12'], ['07-07 30'], ['07-02 5']])
  assert.deepEqual(highest(entries, 2026).map(({ chl }) => chl), [12, 30, 5])
  assert.deepEqual(highest([], 2026), [], 'no value')
})
