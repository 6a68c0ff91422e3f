import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { certainty, originOf } from '../src/card/origin.js'

/** @param {Partial<Entry>} fields @returns {Entry} */
const entry = (fields) => (
  { date: '2026-11-16', chl: 12, who_level: 1, cell_density_cells_ml: null, data_type: 'satellite', forecast: false, sample: false, time: Date.parse('2026-11-16'), week: 2966, ...fields }
)
const nothing = { ice: '', scum: '', turbidity: '', secchi: '', temperature: '', period: '', source: '', version: '', coverage: '', method: '', quality: '' }

test('where a value is from', () => {
  for (const [name, fields, want] of /** @type {[string, Partial<Entry> | undefined, Partial<typeof nothing>][]} */ ([
    ['no entry', undefined, {}],
    ['an entry with a value only', {}, {}],
    ['a product', { source: 'Copernicus LWQ300', version: 'V2.1.1 2025-10-03T10:11:12Z', n_valid: 42, n_total: 60 },
      { source: 'Copernicus LWQ300', version: 'V2.1.1 2025-10-03T10:11:12Z', coverage: '42 of 60 pixels' }],
    ['a laboratory', { source: 'LfU', method: 'DIN 38409-60', secchi_m: 1.4, water_temperature_c: 0 },
      { source: 'LfU', method: 'DIN 38409-60', secchi: '1.4 m', temperature: '0 °C' }],
    ['a week', { period_start: '2026-11-10', composite: 'maximum' }, { period: '10–16 Nov 2026, maximum of the week' }],
    ['ten days', { period_start: '2026-11-07', composite: 'mean' }, { period: '7–16 Nov 2026, mean of 10 days' }],
    ['a period without more', { period_start: '2025-12-31' }, { period: '31 Dec 2025–16 Nov 2026' }],
    ['a period of a day', { period_start: '2026-11-16', composite: 'mean' }, { period: '16 Nov 2026' }],
    ['a composite without a period', { composite: 'mean' }, {}],
    ['one pixel', { n_valid: 1 }, { coverage: '1 pixel' }],
    ['no pixel', { n_valid: 0, n_total: 4321 }, { coverage: '0 of 4,321 pixels' }],
    ['only all pixels', { n_total: 60 }, {}],
    ['doubtful', { quality: 'suspect' }, { quality: 'doubtful' }],
    ['good', { quality: 'good' }, {}],
    ['a method of limnomap', { method: 'median of pixels wholly inside the outline, 2 pixels from the shore' },
      { method: 'median of the pixels wholly inside the lake, 2 pixels from the shore' }],
    ['another one', { method: 'tsi: mean of pixels with their centre inside the outline' },
      { method: 'from classes of the trophic state index: mean of the pixels whose centre is inside the lake' }],
    ['a lake without an outline', { method: 'median of pixels connected to the one nearest to the point, 1 pixel from the shore' },
      { method: 'median of the pixels of the water around the lake’s point, 1 pixel from the shore' }],
    ['a disc', { method: 'median of pixels in a disc with a radius of 500 m' },
      { method: 'median of the pixels in a circle around the lake’s point with a radius of 500 m' }],
    ['hostile', { source: '\u0301\u202eBSL', version: '<b>1</b>', method: '$& \u2066x' }, { source: 'BSL', version: '<b>1</b>', method: '$& x' }],
  ])) {
    const got = originOf(fields && entry(fields))
    assert.deepEqual({ ...got, period: got.period.replace(/\s*–\s*/g, '–') }, { ...nothing, ...want }, name) // versions of ICU differ in spaces
  }
})

test('what the latest observation says counts, with its day if that is not the value’s', () => {
  const value = entry({ turbidity_ntu: 12.34, secchi_m: 1.4, scum_percent: 0 })
  const later = (fields) => entry({ date: '2026-11-19', time: Date.parse('2026-11-19'), chl: null, ...fields })
  for (const [name, own, latest, want] of /** @type {[string, Entry | undefined, Entry | undefined, Partial<typeof nothing>][]} */ ([
    ['nothing later', value, value, { turbidity: '12 NTU', secchi: '1.4 m', scum: '0 % of the pixels' }],
    ['a gap with scum', value, later({ flags: ['scum_possible'], scum_percent: 4.53 }), { turbidity: '12 NTU', secchi: '1.4 m', scum: '4.5 % of the pixels (19 Nov 2026)' }],
    ['a gap by ice', value, later({ flags: ['ice'] }), { ice: 'On 19 Nov 2026 the satellite saw ice, so there is no value of that day.', turbidity: '12 NTU', secchi: '1.4 m', scum: '0 % of the pixels' }],
    ['a gap by clouds', undefined, later({ flags: ['cloud'], water_temperature_c: -0.5 }), { temperature: '-0.5 °C (19 Nov 2026)' }],
    ['a value with some ice', undefined, later({ chl: 3, flags: ['ice'] }), {}],
  ])) assert.deepEqual(originOf(own, latest), { ...nothing, ...want }, name)
})

test('how sure a value is', () => {
  for (const [name, fields, want] of /** @type {[string, Partial<Entry> | undefined, string][]} */ ([
    ['no entry', undefined, ''],
    ['unknown', {}, ''],
    ['a range', { chl_lower: 9, chl_upper: 15.25 }, '12\u00a0µg/l, probably 9 to 15'],
    ['only one end', { chl_upper: 15 }, ''],
    ['a range without width', { chl_lower: 12, chl_upper: 12 }, ''],
    ['below the limit of the method', { chl: 7.5, below_limit: true, chl_upper: 15 }, '< 15\u00a0µg/l, below detection'],
    ['below an unknown limit', { chl: 3, below_limit: true }, '< 3\u00a0µg/l, below detection'],
    ['no value', { chl: null, chl_lower: 9, chl_upper: 15 }, ''],
  ])) assert.equal(certainty(fields && entry(fields)), want, name)
})

test('each part of a method has German words', () => {
  const read = (language) => JSON.parse(readFileSync(new URL(`../src/card/words/${language}.json`, import.meta.url), 'utf8')).methods
  for (const [part, plain] of Object.entries(read('de'))) assert.notEqual(plain, read('en')[part], part)
})
