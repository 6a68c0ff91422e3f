import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayMs, weekNumber, monthTicks } from '../src/calendar.js'
import { bottom, chartScales, left, ownPaths, right, top, valuePaths, valueRange, valueTicks } from '../src/card/chartgeometry.js'
import { describeEntry, entryOf, parseHistory } from '../src/card/entries.js'
import { uba2015, who2003, who2021 } from './legends.mjs'

const level = (chl) => (chl === null ? null : chl < 10 ? 0 : chl < 50 ? 1 : 2)
/** @returns {Entry} */
const entry = (date, chl, fields = {}) => (
  { date, chl, who_level: level(chl), cell_density_cells_ml: chl && chl * 2000, data_type: 'satellite', forecast: false, sample: false, time: Date.parse(date), week: weekNumber(date), ...fields }
)
const forecast = (date, chl) => entry(date, chl, { data_type: 'ai_forecast', forecast: true })
const own = (date, chl, lower, upper) => entry(date, chl, { data_type: 'ai_forecast', forecast: true, issued_at: '2026-11-16', chl_lower: lower, chl_upper: upper, source: 'limnomap-1' })
const sample = (date, chl, fields = {}) => entry(date, chl, { data_type: 'in_situ', sample: true, ...fields })

test('a history is sorted, and measurements replace forecasts', () => {
  const { entries, newest } = parseHistory([
    { date: '2026-11-23', chl: 9, data_type: 'ai_forecast' },
    { date: '2026-11-16', chl: 8, data_type: 'satellite' },
    { date: '2026-11-16', chl: 7, data_type: 'ai_forecast' },
    { date: '2026-11-09', chl: null, data_type: 'satellite' },
    { date: '2026-11-09', chl: 6, data_type: 'ai_forecast' },
  ].map((e) => ({ ...e, who_level: null, cell_density_cells_ml: null })))
  assert.deepEqual(entries.map((e) => [e.date, e.chl, e.forecast]), [['2026-11-09', 6, true], ['2026-11-09', null, false], ['2026-11-16', 8, false], ['2026-11-23', 9, true]])
  assert.equal(newest, '2026-11-16')
  assert.deepEqual(parseHistory([]), { entries: [], newest: undefined })
})

test('a sample replaces the forecast of its day, and comes after the satellite', () => {
  const { entries, newest } = parseHistory([['2026-11-18', 9, 'ai_forecast'], ['2026-11-18', 7, 'in_situ'], ['2026-11-16', 6, 'in_situ'], ['2026-11-16', 8, 'satellite']]
    .map(([date, chl, type]) => /** @type {any} */ ({ date, chl, data_type: type })))
  assert.deepEqual(entries.map((e) => [e.chl, e.sample]), [[8, false], [6, true], [7, true]])
  assert.equal(newest, '2026-11-18')
})

test('a poor value does not replace the forecast of its day', () => {
  const { entries, newest } = parseHistory([['2026-11-16', 90, 'ai_forecast'], ['2026-11-16', 3, 'in_situ']]
    .map(([date, chl, type]) => /** @type {any} */ ({ date, chl, data_type: type, quality: type === 'in_situ' ? 'poor' : undefined })))
  assert.deepEqual(entries.map((e) => e.chl).sort((a, b) => a - b), [3, 90])
  assert.equal(newest, '2026-11-16')
})

test('the entry of the value on a card', () => {
  const poor = sample('2026-11-16', 1, { below_limit: true, chl_upper: 2, quality: 'poor' })
  const entries = [entry('2026-11-09', 8), entry('2026-11-16', 8), sample('2026-11-16', 60, { quality: 'good' }), poor, entry('2026-11-18', 8, { quality: 'poor' }), forecast('2026-11-23', 60)]
  const find = (/** @type {Partial<Lake>} */ fields, date = null) => (
    entries.indexOf(entryOf(/** @type {Lake} */ ({ chl: 8, who_level: 0, measured_at: '2026-11-16T10:00:00Z', measured_by: 'satellite', ...fields }), entries, date))
  )
  const sampled = /** @type {const} */ ({ chl: 60, who_level: 2, measured_by: 'in_situ' })
  for (const [name, got, want] of /** @type {const} */ ([
    ['the newest with the value', find({}), 1],
    ['in a past week', find({}, '2026-11-09'), 0],
    ['the good one of two samples of one day', find(sampled), 2],
    ['measured on another day than its date', find({ ...sampled, measured_at: '2026-11-18T10:00:00Z' }), 2],
    ['a poor one', find({ ...sampled, chl: 1, who_level: 0 }), -1],
    ['another level', find({ who_level: 3, level_by: 'report' }), -1],
    ['no value', find({ chl: null, who_level: null }), -1],
  ])) assert.equal(got, want, name)
})

test('the entry of a value that several sources have', () => {
  const of = (date, source, fields = {}) => entry(date, 8, { source, ...fields })
  const lake = /** @type {Lake} */ ({ chl: 8, who_level: 0, measured_at: '2026-11-16T10:00:00Z', measured_by: 'satellite' })
  const { entries } = parseHistory([of('2026-11-18', 'later'), of('2026-11-16', 'a'), of('2026-11-16', 'b'), of('2026-11-16', 'c', { quality: 'suspect' }), of('2026-11-09', 'z')])
  assert.equal(entryOf(lake, entries, null).source, 'b', 'the last source of the day that is not doubtful')
  assert.equal(entryOf({ ...lake, measured_at: '2026-11-17T10:00:00Z' }, entries, null).source, 'later', 'the newest if none has that date')
  assert.equal(entryOf(lake, entries.filter((e) => e.quality), null).source, 'c', 'a doubtful one if there is no other')
})

test('scales', () => {
  const entries = [entry('2026-09-07', 1), entry('2026-11-16', 100)]
  const { x, y } = chartScales(entries, who2003)
  assert.deepEqual([x(entries[0].time), x(entries[1].time)], [left + 3, right - 3])
  assert.deepEqual([y(1), y(100)], [bottom, top], 'the ends of the legend if no value lies beyond them')
  assert.ok(Math.abs(y(10) - (top + bottom) / 2) < 1e-9, 'logarithmic')
  const short = chartScales([entry('2026-11-16', 5)], who2003)
  assert.equal(short.last - short.first, 56 * dayMs, 'at least eight weeks')
})

test('the value axis reaches to all values', () => {
  for (const [name, values, want] of /** @type {[string, (number | null | undefined)[], number[]][]} */ ([
    ['none', [], [1, 100]], ['within the legend', [2, null, undefined, 99], [1, 100]], ['above', [150.29, 20], [1, 200]], ['at a round number', [200], [1, 200]],
    ['the largest plausible', [1500], [1, 2000]], ['below', [0.47, 8], [0.2, 100]], ['zero, which no logarithm has', [0, 8], [1, 100]], ['the lowest drawn', [0.1], [0.1, 100]],
    ['beyond the round numbers', [1e6], [1, 1e6]],
  ])) {
    const { min, max } = valueRange(values, who2003)
    assert.deepEqual([min, max], want, name)
  }
  const entries = [entry('2026-11-09', 1500), entry('2026-11-16', 150, { chl_upper: 1900 })]
  const { y } = chartScales(entries, who2003)
  assert.ok(y(1500) > top && y(1500) < y(150), 'the worst values are a curve')
  assert.equal(chartScales(entries, who2003, [3000]).max, 5000, 'what was usual counts too')
})

test('the value axis of every lake has names that do not touch', () => {
  for (const legend of [who2003, who2021, uba2015]) {
    for (const value of [0.1, 0.5, 3, 150, 300, 700, 1500]) {
      const scales = chartScales([entry('2026-11-16', value)], legend)
      const ticks = valueTicks(legend, scales).sort((a, b) => a - b)
      assert.deepEqual([ticks[0], ticks.length > 3 || legend === uba2015], [scales.min, true], `${legend.profile} with ${value}: ${ticks}`)
      for (let i = 1; i < ticks.length; i++) assert.ok(scales.y(ticks[i - 1]) - scales.y(ticks[i]) >= 12, `${legend.profile} with ${value}: ${ticks[i]} touches another name`)
    }
  }
})

test('the value axis names its ends and the limits', () => {
  for (const [legend, want] of /** @type {const} */ ([[who2003, [1, 10, 50, 100]], [who2021, [1, 12, 24, 100]], [uba2015, [1, 15, 75]]])) {
    const scales = chartScales([entry('2026-11-16', 5)], legend)
    const { y } = scales
    const ticks = valueTicks(legend, scales).sort((a, b) => a - b)
    assert.deepEqual(ticks, want, legend.profile)
    for (let i = 1; i < ticks.length; i++) assert.ok(y(ticks[i - 1]) - y(ticks[i]) >= 12, `${legend.profile}: ${ticks[i]} touches another name`)
  }
})

test('the time axis names at most five months or so', () => {
  assert.deepEqual(monthTicks(Date.parse('2026-09-21'), Date.parse('2026-11-16')), [[2026, 9], [2026, 10]])
  assert.deepEqual(monthTicks(Date.parse('2024-11-20'), Date.parse('2026-11-16')), [[2025, 0], [2025, 6], [2026, 0], [2026, 6]])
  for (const years of [1, 3, 10, 40, 100]) {
    const ticks = monthTicks(Date.UTC(2026 - years, 3), Date.UTC(2026, 3))
    assert.ok(ticks.length >= 1 && ticks.length <= 6, `${years} years: ${ticks.length}`)
  }
})

const count = (text, part) => text.split(part).length - 1

test('samples have squares beside the line, with their uncertainty', () => {
  const entries = [
    entry('2026-09-07', 8, { chl_lower: 5, chl_upper: 12 }), sample('2026-09-09', 7.5, { below_limit: true, chl_upper: 15 }), sample('2026-09-10', null),
    entry('2026-09-14', 9, { quality: 'poor' }), sample('2026-09-15', 9, { quality: 'poor' }), sample('2026-09-16', 5, { who_level: 2, level_by: 'cells', cell_density_cells_ml: 150_000 }),
  ]
  const scales = chartScales(entries, who2003)
  const paths = valuePaths(entries, scales)
  assert.deepEqual([count(paths.line, 'M'), count(paths.line, 'L')], [1, 1], 'one line from satellite value to satellite value')
  assert.deepEqual([count(paths.dots, 'M'), count(paths['dots poor'], 'M')], [1, 1])
  assert.deepEqual([count(paths.sample, 'M'), count(paths['sample poor'], 'M'), count(paths.below, 'M')], [2, 1, 1])
  assert.equal(count(paths['sign reported'], 'M'), 1, 'more cells than the chlorophyll shows')
  assert.equal(count(paths.whisker, 'V'), 2)
  assert.ok(paths.whisker.startsWith(`M${scales.x(entries[0].time).toFixed(1)} ${scales.y(5).toFixed(1)}V${scales.y(12).toFixed(1)}`), paths.whisker)
  assert.ok(paths.whisker.includes(` ${bottom}.0V${scales.y(15).toFixed(1)}`), 'from zero, which the axis does not have')
})

test('lines have gaps, and forecasts have a line of their own', () => {
  const entries = [
    entry('2026-09-07', 8), entry('2026-09-14', 9), // two weeks
    entry('2026-10-05', 12), entry('2026-10-12', null), // one week after a gap, then a week without a value
    entry('2026-10-19', 150), entry('2026-10-26', 0.05), entry('2026-11-02', 5, { who_level: 3, level_by: 'report' }), // above the legend, below every axis, and scum
    forecast('2026-11-09', 30), forecast('2026-11-16', 60),
  ]
  const paths = valuePaths(entries, chartScales(entries, who2003))
  assert.equal(count(paths.line, 'M'), 3, paths.line)
  assert.equal(count(paths.line, 'L'), 3, paths.line)
  assert.deepEqual([count(paths.dashed, 'M'), count(paths.dashed, 'L')], [1, 2], 'from the last value to both forecasts')
  assert.equal(count(paths.dots, 'M'), 4, 'no dots for signs and forecasts')
  assert.equal(count(paths['sign reported'], 'M'), 1)
  assert.equal(count(paths['sign beyond'], 'M'), 1, 'only what no axis shows')
})

test("limnomap's own forecast: a band and a line of its own, on a wider time scale", () => {
  const measured = [entry('2025-11-17', 8), entry('2026-11-16', 20)]
  const steps = [own('2026-11-23', 18, 9, 36), own('2026-11-30', 15, 6, 40), own('2026-12-07', 12, 5, 30), own('2026-12-14', 10, 0.5, 200)]
  const entries = [...measured, ...steps]
  const scales = chartScales(entries, who2003)
  const paths = ownPaths(entries, scales)
  assert.deepEqual([count(paths.own, 'M'), count(paths.own, 'L')], [1, 4], 'from the last value through four steps')
  assert.ok(paths.own.startsWith(`M${scales.x(measured[1].time).toFixed(1)} ${scales.y(20).toFixed(1)}L`), paths.own)
  assert.deepEqual([count(paths.fan, 'L'), paths.fan.at(-1)], [9, 'z'], 'there along the lower bounds and back along the upper ones')
  assert.ok(paths.fan.includes(`${scales.x(steps[0].time).toFixed(1)} ${scales.y(9).toFixed(1)}L`) && paths.fan.includes(`${scales.x(steps[0].time).toFixed(1)} ${scales.y(36).toFixed(1)}L`), paths.fan)
  assert.equal(count(paths.steps, 'M'), 4, 'no ring at the value')
  const xs = entries.map((e) => scales.x(e.time))
  assert.deepEqual([xs[0], xs.at(-1)], [left + 3, right - 3])
  assert.ok(xs[3] - xs[2] >= 12, `steps of ${xs[3] - xs[2]}`)
  assert.ok(xs.every((x, i) => i === 0 || x > xs[i - 1]), 'time grows to the right')
  const measuredPaths = valuePaths(entries, scales)
  assert.deepEqual([measuredPaths.dashed, measuredPaths.whisker, count(measuredPaths.dots, 'M')], ['', '', 2], 'no sign of a measured or imported value')
})

test('no line joins a forecast to a value of an earlier week', () => {
  const entries = [entry('2026-11-02', 20), entry('2026-11-16', null), own('2026-11-23', 18, 9, 36)]
  const { own: line, fan, steps } = ownPaths(entries, chartScales(entries, who2003))
  assert.deepEqual([count(line, 'L'), count(fan, 'L'), count(steps, 'M')], [0, 1, 1])
})

test('an imported forecast stays on the scale of the values', () => {
  const entries = [entry('2026-11-16', 20), forecast('2026-11-23', 30)]
  const scales = chartScales(entries, who2003)
  assert.deepEqual([ownPaths(entries, scales), scales.end, scales.last], [{}, undefined, entries[1].time])
})

test('own forecasts get their bounds, and only days from today on', () => {
  const row = (date, fields = {}) => /** @type {any} */ ({ date, chl: 9, data_type: 'ai_forecast', who_level: 0, issued_at: '2026-11-02', lower: 4, upper: 20, ...fields })
  const history = [row('2026-11-23'), row('2026-11-16'), row('2026-11-15'), row('2026-11-09', { issued_at: null, lower: null, upper: null })]
  const { entries } = parseHistory(history, Date.parse('2026-11-16T23:00:00Z'))
  assert.deepEqual(entries.map((e) => [e.date, e.chl_lower, e.chl_upper]), [['2026-11-09', undefined, undefined], ['2026-11-16', 4, 20], ['2026-11-23', 4, 20]])
})

test('entries in words', () => {
  for (const [e, want] of /** @type {const} */ ([
    [entry('2026-11-16', 24.5), '16 Nov 2026: 25\u00a0µg/l, Medium risk'],
    [entry('2026-11-16', 10), '16 Nov 2026: 10\u00a0µg/l, Medium risk'],
    [entry('2026-11-16', 5, { who_level: 3, level_by: 'report' }), '16 Nov 2026: 5\u00a0µg/l, High risk, reported'],
    [entry('2026-11-16', 0.5), '16 Nov 2026: 0.5\u00a0µg/l, Low risk'],
    [entry('2026-11-16', 0), '16 Nov 2026: 0\u00a0µg/l, Low risk, beyond the axis'],
    [entry('2026-11-16', 1500), '16 Nov 2026: 1,500\u00a0µg/l, High risk'],
    [entry('2026-11-16', null), '16 Nov 2026: no value'],
    [entry('2026-11-16', null, { flags: ['cloud', 'ice'] }), '16 Nov 2026: no value, ice'],
    [entry('2026-11-16', 5, { flags: ['scum_possible'], scum_percent: 3 }), '16 Nov 2026: 5\u00a0µg/l, Low risk, possible scum'],
    [entry('2026-11-16', 24.5, { chl_lower: 20, chl_upper: 30.25, quality: 'suspect' }), '16 Nov 2026: 25\u00a0µg/l, between 20 and 30, Medium risk, doubtful'],
    [sample('2026-11-16', 7.5, { below_limit: true, chl_lower: 0, chl_upper: 15 }), '16 Nov 2026: < 15\u00a0µg/l, Low risk, water sample'],
    [sample('2026-11-16', 5, { who_level: 2, level_by: 'cells', cell_density_cells_ml: 150_000 }), '16 Nov 2026: 5\u00a0µg/l, High risk, cell count, water sample'],
    [entry('2026-11-16', 5, { who_level: 2, level_by: 'cells', cell_density_by: 'index', cell_density_cells_ml: 150_000 }), '16 Nov 2026: 5\u00a0µg/l, High risk, index of blue-green algae'],
    [sample('2026-11-16', 60, { quality: 'poor' }), '16 Nov 2026: 60\u00a0µg/l, High risk, water sample, poor quality'],
    [entry('2026-11-16', 24.5, { source: 'Copernicus LWQ300' }), '16 Nov 2026: 25\u00a0µg/l, Medium risk, \u2068Copernicus LWQ300\u2069'],
    [sample('2026-11-16', 5, { source: `\u202e${'ä'.repeat(200)}` }), `16 Nov 2026: 5\u00a0µg/l, Low risk, water sample, \u2068${'ä'.repeat(39)}…\u2069`],
    [forecast('2026-11-16', 60), '16 Nov 2026: 60\u00a0µg/l, High risk, statistical forecast'],
    [own('2026-11-16', 12, 6.5, 25), '16 Nov 2026: 12\u00a0µg/l, in 4 of 5 cases between 6.5 and 25, Medium risk, statistical forecast'],
  ])) {
    assert.equal(describeEntry(e, who2003), want)
  }
  assert.equal(describeEntry(entry('2026-11-16', 12, { who_level: 0 }), who2021), '16 Nov 2026: 12\u00a0µg/l, Low risk', 'a limit belongs to the class below it')
})
