import assert from 'node:assert/strict'
import { test } from 'node:test'
import { weekNumber } from '../src/calendar.js'
import { chartScales, usualPath } from '../src/card/chartgeometry.js'
import { median, seasonText, usualValues, yearAndNumber } from '../src/card/season.js'
import { who2003 } from './legends.mjs'

/** @returns {Entry} */
const entry = (date, chl, fields = {}) => (
  { date, chl, who_level: 0, cell_density_cells_ml: null, data_type: 'satellite', forecast: false, sample: false, time: Date.parse(date), week: weekNumber(date), ...fields }
)

test('weeks and their years as in ISO 8601', () => {
  for (const [date, year, number] of /** @type {const} */ ([
    ['2026-11-23', 2026, 48], ['2026-01-01', 2026, 1], ['2025-12-29', 2026, 1], ['2027-01-01', 2026, 53], ['2021-01-03', 2020, 53], ['2024-12-30', 2025, 1], ['2023-01-01', 2022, 52],
  ])) assert.deepEqual(yearAndNumber(weekNumber(date)), { year, number }, date)
})

test('the median', () => {
  assert.deepEqual([[3], [4, 2], [9, 1, 100], [4, 1, 2, 3]].map(median), [3, 3, 9, 2.5])
})

const years = [ // week 48
  entry('2022-11-28', 40), entry('2023-11-27', 10), entry('2024-11-25', 12), entry('2025-11-24', 15),
  entry('2026-11-23', 23),
]

test('a value is compared with the same time of earlier years', () => {
  for (const [name, entries, current, want] of /** @type {[string, Entry[], Entry | undefined, string][]} */ ([
    ['four years', years, years.at(-1), 'Value of 23 Nov 2026: 23\u00a0µg/l. In earlier years: usually 14\u00a0µg/l at this time of year (median of 4 years), 15\u00a0µg/l in the same week a year ago.'],
    ['a past week, before which there is less', years, years[2], 'Value of 25 Nov 2024: 12\u00a0µg/l. In earlier years: usually 25\u00a0µg/l at this time of year (median of 2 years), 10\u00a0µg/l in the same week a year ago.'],
    ['one year has no median', years.slice(3), years.at(-1), 'Value of 23 Nov 2026: 23\u00a0µg/l. In earlier years: 15\u00a0µg/l in the same week a year ago.'],
    ['a week beside it counts for what is usual', [entry('2024-11-18', 9), entry('2025-12-01', 11), years[4]], years[4],
      'Value of 23 Nov 2026: 23\u00a0µg/l. In earlier years: usually 10\u00a0µg/l at this time of year (median of 2 years), no value in the same week a year ago.'],
    ['another time of year does not', [entry('2024-11-04', 9), entry('2025-11-03', 9), years[4]], years[4], ''],
    ['nor do forecasts, samples, poor values and gaps', [
      entry('2025-11-24', 9, { forecast: true }), entry('2025-11-24', 9, { sample: true }), entry('2025-11-24', 9, { quality: 'poor' }), entry('2025-11-24', null), years[4],
    ], years[4], ''],
    ['samples with samples', [entry('2024-11-25', 50), entry('2024-11-26', 9, { sample: true }), entry('2025-11-25', 11, { sample: true }), { ...years[4], sample: true }], { ...years[4], sample: true },
      'Value of 23 Nov 2026: 23\u00a0µg/l. In earlier years: usually 10\u00a0µg/l at this time of year (median of 2 years), 11\u00a0µg/l in the same week a year ago.'],
    ['without a value nothing is said: usual values must not stand for it', years, undefined, ''],
  ])) assert.equal(seasonText(entries, current), want, name)
})

test('the line of usual values has the weeks of its year only, and gaps', () => {
  const all = ['2024-06-03', '2024-06-10', '2024-08-05', '2025-06-02', '2025-06-09', '2025-08-04'].map((d, i) => entry(d, 10 + i))
  const usual = usualValues([...all, entry('2026-06-01', 500)], weekNumber('2026-11-23'))
  assert.deepEqual(usual.map(({ week }) => yearAndNumber(week).number), [22, 23, 24, 25, 31, 32, 33], 'each week and those beside it')
  assert.deepEqual([...new Set(usual.map(({ week }) => yearAndNumber(week).year))], [2026])
  assert.equal(usual[0].chl, 11.5, 'this season does not count')
  const path = usualPath(usual, chartScales([entry('2026-01-05', 5), entry('2026-11-16', 5)], who2003))
  assert.deepEqual([path.split('M').length - 1, path.split('L').length - 1], [2, 5])
  assert.equal(usualPath(usual, chartScales([entry('2026-08-31', 5), entry('2026-11-16', 5)], who2003)), '', 'nothing before the chart')
  assert.deepEqual(usualValues([], weekNumber('2026-11-23')), [])
  assert.deepEqual(usualValues(all.slice(0, 3), weekNumber('2026-11-23')), [], 'one year')
})

test('the usual values are of the series with more values', () => {
  const samples = ['2024-11-25', '2025-11-24', '2026-11-23'].map((date) => entry(date, 8, { sample: true }))
  assert.deepEqual(usualValues([...samples, entry('2025-11-25', 90)], weekNumber('2026-11-23')).map(({ chl }) => chl), [8, 8, 8])
  assert.deepEqual(usualValues([...years, ...samples], weekNumber('2026-11-23')).map(({ chl }) => chl), [13.5, 13.5, 13.5])
})
