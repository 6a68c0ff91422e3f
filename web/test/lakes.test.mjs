import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meaning } from '../src/cardfacts.js'
import { classifyLakes, rangeText, riskClass, riskFilter } from '../src/classify.js'
import { valueText } from '../src/labels.js'
import { describeLake, riskText, summary } from '../src/laketext.js'
import { cleanText } from '../src/linetext.js'
import { matchLakes, parseQuery } from '../src/find/match.js'
import { orders } from '../src/order.js'
import { symbolStyle } from '../src/symbols.js'
import { greys, uba2015, who2003, who2021 } from './legends.mjs'

const now = new Date().toISOString()
const [low, medium, high] = who2003.classes

/** @param {Partial<Lake>} fields @returns {Lake} */
const lake = (fields) => ({
  id: 'x', name: 'Xsee', lat: 52, lon: 13, chl: 5, who_level: 0, level_by: 'chlorophyll', cell_density_cells_ml: (fields.chl ?? 5) * 2000, risk: 'low', color: low.color,
  trophic: 'mesotrophic', measured_at: now, measured_by: 'satellite', advisory: null, old: false, closed: false, warned: false, ...fields,
})
const bloom = { chl: 80, who_level: 2, risk: 'high', color: high.color }
/** @param {string} kind @param {Partial<Advisory>} [fields] @returns {Partial<Lake>} */
const stated = (kind, fields) => ({ advisory: { id: 'a', kind, cause: 'cyanobacteria', issuer: 'Amt', valid_until: null, ...fields } })
const classified = (fields, date = null) => classifyLakes([lake(fields)], who2003, date)[0]

test('the risk of the server is displayed, with a badge if the colour of the value does not show it', () => {
  for (const { name, fields, risk, color, worse = '' } of [
    { name: 'by value', fields: {}, risk: 'low', color: low.colors[1] },
    { name: 'a bloom', fields: bloom, risk: 'high', color: high.color },
    { name: 'scum in clear water', fields: { who_level: 3, level_by: 'report', risk: 'high' }, risk: 'high', color: high.color, worse: 'report' },
    { name: 'more cells than chlorophyll', fields: { who_level: 2, level_by: 'cells', risk: 'high', cell_density_cells_ml: 150_000 }, risk: 'high', color: high.color, worse: 'counted' },
    { name: 'more cells by an index', fields: { who_level: 2, level_by: 'cells', cell_density_by: 'index', risk: 'high', cell_density_cells_ml: 150_000 }, risk: 'high', color: high.color, worse: 'index' },
    { name: 'scum, and too few cells for it', fields: { who_level: 3, level_by: 'report', risk: 'high', cell_density_cells_ml: 150_000 }, risk: 'high', color: high.color, worse: 'report' },
    { name: 'many cells in a bloom', fields: { ...bloom, cell_density_cells_ml: 150_000 }, risk: 'high', color: high.color },
    { name: 'scum in a bloom', fields: { ...bloom, who_level: 3, level_by: 'report' }, risk: 'high', color: high.color, worse: 'report' },
    { name: 'a level worse than the value', fields: { who_level: 1, level_by: 'report', risk: 'medium' }, risk: 'medium', color: medium.color, worse: 'report' },
  ]) {
    const got = classified(fields)
    assert.deepEqual([got.display.risk, got.display.color, got.worse], [risk, color, worse], name)
    assert.equal(riskClass(got), risk, name)
    assert.equal(symbolStyle(got).badge, worse !== '', name)
  }
})

test('a value has the colour of its step in the legend, whatever colour map the server answered in', () => {
  for (const { legend, fields, color } of [
    { legend: who2003, fields: { chl: 0 }, color: '#1a9850' },
    { legend: who2003, fields: { chl: 2.99 }, color: '#1a9850' },
    { legend: who2003, fields: { chl: 3 }, color: '#91cf60' },
    { legend: who2003, fields: { chl: 9.99 }, color: '#91cf60' },
    { legend: who2003, fields: { ...bloom, chl: 1500 }, color: '#d73027' },
    { legend: who2021, fields: { chl: 12 }, color: '#91cf60' },
    { legend: who2021, fields: { chl: 12.01, who_level: 1, risk: 'medium' }, color: '#fee08b' },
    { legend: greys, fields: { chl: 2.99 }, color: '#000000' },
    { legend: greys, fields: { chl: 3 }, color: '#010101' },
    { legend: greys, fields: bloom, color: '#202020' },
    { legend: greys, fields: { ...bloom, chl: 5 }, color: '#222222' },
  ]) {
    const [got] = classifyLakes([lake(fields)], legend, null)
    assert.equal(symbolStyle(got).colour, color, `${JSON.stringify(fields)} in ${legend.colormap}, ${legend.profile}`)
  }
})

test('a closed lake is closed, whatever its value', () => {
  for (const fields of [{}, bloom, { chl: null, level_by: null, who_level: null, risk: null, measured_at: null }]) {
    const closed = classified({ ...fields, ...stated('closure') })
    assert.equal(riskClass(closed), 'closed')
    assert.deepEqual(symbolStyle(closed), { name: 'closed', colour: '#16191c', sign: '#fff', old: false, badge: false })
    assert.match(describeLake(closed), /^Closed · Algae: (Low risk, 5|High risk, 80|No current value \(never)/)
    assert.match(valueText(closed), /^closed · (low, 5|high, 80|no value)/)
    assert.doesNotMatch(meaning(closed, null).join(' '), /Keep children out/)
  }
  assert.match(meaning(classified(stated('closure')), '2024-11-11').join(' '), /^The satellite shows few algae\. What the authority says counts/)
  assert.match(meaning(classified({ ...bloom, ...stated('closure') }), null).join(' '), /^Very many algae: do not bathe/)
})

test('a warning has a badge; other statements do not change the symbol', () => {
  const warned = classified(stated('warning'))
  assert.deepEqual([riskClass(warned), symbolStyle(warned).badge], ['low', true])
  assert.equal(describeLake(warned), 'Official warning · Algae: Low risk, 5\u00a0µg/l')
  assert.doesNotMatch(meaning(warned, null).join(' '), /Keep children out/)
  for (const kind of ['info', 'season']) {
    const noted = classified(stated(kind))
    assert.deepEqual([riskClass(noted), symbolStyle(noted).badge, describeLake(noted)], ['low', false, 'Low risk, 5\u00a0µg/l'])
  }
})

test('a statement that is over does not count in the newest week', () => {
  const over = stated('closure', { valid_until: new Date(Date.now() - 1000).toISOString() })
  const [ended, past] = [classified(over), classified(over, '2024-11-11')]
  assert.deepEqual([ended.advisory, ended.closed, riskClass(ended)], [null, false, 'low'])
  assert.deepEqual([past.advisory, past.closed], [over.advisory, true])
  assert.equal(classified(stated('warning', { valid_until: over.advisory.valid_until })).warned, false)
  assert.equal(classified(stated('closure', { valid_until: new Date(Date.now() + 60_000).toISOString() })).closed, true)
})

test('a lake without a value is never clean', () => {
  const none = classified({ chl: null, who_level: null, risk: 'low', color: '#9aa0a6' })
  assert.equal(none.display, undefined)
  assert.equal(riskClass(none), 'none')
  assert.deepEqual(symbolStyle(none), { name: 'none', colour: '#9aa0a6', sign: '#1d2328', old: false, badge: false })
  assert.equal(riskText(none), 'No current value (last known risk: low)')
  assert.equal(riskText(classified({ chl: null, risk: null, measured_at: null })), 'No current value (never measured)')
  assert.equal(valueText(none), 'no value')
  assert.match(meaning(none, null).join(' '), /does not mean that it is clean/)
})

test('few algae are what was measured, and no clearance', () => {
  const measuredBy = (source) => meaning(classified({ measured_by: source }), null).join(' ')
  assert.equal(measuredBy('satellite'), 'The satellite shows few algae. Keep children out of green or streaky water all the same.')
  assert.match(measuredBy('in_situ'), /^The sample shows few algae\. Keep/)
  assert.match(meaning(classified({ measured_by: 'in_situ', ...stated('warning') }), null).join(' '), /^The sample shows few algae\. What the authority/)
  assert.match(meaning(classified({ ...bloom, measured_by: 'in_situ' }), null).join(' '), /^Very many algae: do not bathe/)
})

test('old values', () => {
  const old = classified({ measured_at: '2024-11-11T00:00:00Z' })
  assert.equal(old.old, true)
  assert.equal(classified({ measured_at: '2024-11-11T00:00:00Z' }, '2024-11-18').old, false, 'in the week after')
  assert.equal(classified({ measured_at: null, chl: null, risk: null }).old, false, 'never measured')
  assert.equal(describeLake(old), 'Low risk, 5\u00a0µg/l, old value from 11 Nov 2024')
  assert.equal(valueText(old), 'low, 5\u00a0µg/l, old')
  assert.match(meaning(old, null).join(' '), /^Few algae at that time\. An old value/)
})

test('texts of levels worse than the value', () => {
  const scum = classified({ name: 'Scumsee', who_level: 3, level_by: 'report', risk: 'high' })
  assert.equal(summary(scum), 'Scumsee: High risk (reported), 5\u00a0µg/l')
  assert.match(meaning(scum, null).join(' '), /do not bathe.*People at the lake reported/)
  assert.doesNotMatch(meaning(scum, null).join(' '), /index/)
  assert.match(meaning({ ...scum, cell_density_by: 'index' }, null).join(' '), /from an index of blue-green algae/)
  assert.match(meaning(scum, '2024-11-11').join(' '), /^Very many algae at that time/)
  const cells = classified({ who_level: 2, level_by: 'cells', risk: 'high', cell_density_cells_ml: 150_000 })
  assert.equal(riskText(cells), 'High risk (cell count)')
  assert.match(meaning(cells, null).join(' '), /do not bathe.*Cell count 150,000 cells\/ml: worse than the colour/)
  const index = classified({ who_level: 2, level_by: 'cells', cell_density_by: 'index', risk: 'high', cell_density_cells_ml: 165_422 })
  assert.equal(riskText(index), 'High risk (index of blue-green algae)')
  assert.match(meaning(index, null).join(' '), /do not bathe.*Index of blue-green algae: 170,000 cells\/ml, worse than the colour.*from an index/)
})

test('limits of the classes in words', () => {
  for (const [legend, want] of /** @type {const} */ ([
    [who2003, ['below 10', '10 to below 50', '50 or more']],
    [who2021, ['up to 12', 'above 12, up to 24', 'above 24']],
    [uba2015, ['below 15', '15 to below 75', '75 or more']],
  ])) {
    assert.deepEqual(legend.classes.map((c) => rangeText(c, legend)), want, legend.profile)
  }
})

test('the filter by risk', () => {
  const lakes = [classified({}), classified(bloom), classified({ chl: null }), classified(stated('closure'))]
  for (const [risk, want] of [
    [null, ['low', 'high', 'none', 'closed']], ['', ['low', 'high', 'none', 'closed']], ['nonsense', ['low', 'high', 'none', 'closed']],
    ['high', ['high', 'closed']], ['high,none', ['high', 'none', 'closed']], ['medium', []], ['low', ['low']], ['closed', ['closed']],
  ]) {
    const passes = riskFilter(/** @type {any} */ ({ get: () => ({ risk }) }))
    assert.deepEqual(lakes.filter(passes).map(riskClass), want, String(risk))
  }
})

test('search in the loaded lakes and in the answer of the server', () => {
  const lakes = [['a', 'Großer Müggelsee'], ['b', 'Kleiner Müggelsee'], ['c', 'Wannsee']].map(([id, name]) => classified({ id, name }))
  const loaded = { lakes, byId: new Map(lakes.map((l) => [l.id, l])), date: null, complete: true, forecast: null }
  const found = matchLakes(loaded, parseQuery('mueggel'), [])
  assert.deepEqual(found.map(({ lake: { id }, rank }) => [id, rank]), [['a', 1], ['b', 1]])
  const remote = matchLakes(loaded, parseQuery('berlin'), [classified({ id: 'c', name: 'from the server' }), classified({ id: 'far' })])
  assert.deepEqual(remote.map(({ lake: { id, name } }) => [id, name]), [['c', 'Wannsee'], ['far', 'Xsee']], 'a loaded lake replaces the record of the server')
  assert.deepEqual(remote.map(({ rank }) => rank), [2, 2], 'only the server knows why they match')
  const misspelt = matchLakes(loaded, parseQuery('Mügelsee'), [])
  assert.deepEqual(misspelt.map(({ lake: { id }, rank }) => [id, rank]), [['a', 6], ['b', 6]])
})

test('orders of the list', () => {
  const entry = (fields) => ({ lake: classified(fields), rank: 0, distance: 1 })
  const [dirty, clean, none, closed] = [bloom, {}, { chl: null }, { chl: null, ...stated('closure') }].map(entry)
  const scum = entry({ who_level: 3, risk: 'high' })
  assert.deepEqual([none, clean, dirty, closed, scum].sort(orders.value), [closed, scum, dirty, clean, none])
  const [old, oldBloom] = [{ old: true }, { ...bloom, old: true }].map((fields) => ({ lake: { ...classified(fields), old: true }, rank: 0, distance: 1 }))
  const [warned, cleaner, near] = [entry(stated('warning')), entry({ chl: 2 }), { ...entry({ chl: 9 }), distance: 0.5 }]
  assert.deepEqual([none, clean, warned, dirty, oldBloom, closed, cleaner, old, scum, near].sort(orders.clean), [near, cleaner, clean, dirty, scum, old, oldBloom, none, warned, closed])
  assert.ok(orders.distance({ ...clean, distance: 1 }, { ...dirty, distance: 2 }) < 0)
  assert.equal(orders.name(clean, dirty), 0)
})

test('a name does not change the order of the value', () => {
  assert.equal(cleanText('See \u202e1.25\u2069\u2067'), 'See 1.25')
  assert.equal(cleanText('\u202e\u0301\u0301See'), '\u0301\u0301See')
  assert.equal(cleanText('\u0301\u0301See'), 'See')
  for (const name of ['Müggelsee', 'דריה כנרת\u200f (צפון)', 'دریاچه\u200cی ارومیه', 'क्\u200dष', '👩‍👩‍👧', '琵琶湖']) assert.equal(cleanText(name), name)
  const hostile = classified({ name: 'See \u202e1.25\u2066', ...bloom, chl: 52.1 })
  assert.equal(hostile.name, 'See 1.25')
  assert.equal(summary(hostile), 'See 1.25: High risk, 52\u00a0µg/l')
})
