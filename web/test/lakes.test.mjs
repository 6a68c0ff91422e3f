import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meaning } from '../src/cardfacts.js'
import { classifyLakes, rangeText, riskClass, riskFilter } from '../src/classify.js'
import { valueText } from '../src/labels.js'
import { describeLake, riskText, summary } from '../src/laketext.js'
import { cleanText } from '../src/linetext.js'
import { matchLakes, orders, spellings } from '../src/match.js'
import { symbolStyle } from '../src/symbols.js'
import { uba2015, who2003, who2021 } from './legends.mjs'

const now = new Date().toISOString()
const [low, medium, high] = who2003.classes

/** @param {Partial<Lake>} fields @returns {Lake} */
const lake = (fields) => ({ id: 'x', name: 'Xsee', lat: 52, lon: 13, chl: 5, who_level: 0, risk: 'low', color: low.color, trophic: 'mesotrophic', measured_at: now, old: false, ...fields })
const classified = (fields, date = null) => classifyLakes([lake(fields)], who2003, date)[0]

test('the displayed risk is the worse of value and report', () => {
  for (const { name, fields, risk, color, reported } of [
    { name: 'by value', fields: {}, risk: 'low', color: low.color, reported: false },
    { name: 'scum in clear water', fields: { who_level: 3, risk: 'high' }, risk: 'high', color: high.color, reported: true },
    { name: 'a bloom that was reported as harmless', fields: { chl: 80, who_level: 0, risk: 'low', color: high.color }, risk: 'high', color: high.color, reported: true },
    { name: 'a level worse than the value', fields: { who_level: 1, risk: 'medium' }, risk: 'medium', color: medium.color, reported: true },
    { name: 'a colour outside the legend', fields: { color: '#000000' }, risk: 'low', color: low.color, reported: false },
  ]) {
    const got = classified(fields)
    assert.deepEqual([got.display.risk, got.display.color, got.reported], [risk, color, reported], name)
    assert.equal(riskClass(got), risk, name)
  }
})

test('a lake without a value is never clean', () => {
  const none = classified({ chl: null, who_level: null, risk: 'low', color: '#9aa0a6' })
  assert.equal(none.display, undefined)
  assert.equal(riskClass(none), 'none')
  assert.deepEqual(symbolStyle(none), { name: 'none', colour: '#9aa0a6', sign: '#1d2328', old: false })
  assert.equal(riskText(none), 'No current value (Risk then: Low risk)')
  assert.equal(riskText(classified({ chl: null, risk: null, measured_at: null })), 'No current value (never measured)')
  assert.equal(valueText(none), 'no value')
  assert.match(meaning(none, null).join(' '), /does not mean that it is clean/)
})

test('old values', () => {
  const old = classified({ measured_at: '2024-11-11T00:00:00Z' })
  assert.equal(old.old, true)
  assert.equal(classified({ measured_at: '2024-11-11T00:00:00Z' }, '2024-11-18').old, false, 'in the week after')
  assert.equal(classified({ measured_at: null, chl: null, risk: null }).old, false, 'never measured')
  assert.equal(describeLake(old), 'Low risk, 5 µg/l, old value from 11 Nov 2024')
  assert.equal(valueText(old), 'low, 5 µg/l, old')
  assert.match(meaning(old, null).join(' '), /^Few algae at that time\. An old value/)
})

test('texts of reported levels', () => {
  const scum = classified({ name: 'Scumsee', who_level: 3, risk: 'high' })
  assert.equal(summary(scum), 'Scumsee: High risk (reported), 5 µg/l')
  assert.match(meaning(scum, null).join(' '), /do not bathe.*People at the lake reported/)
  const harmless = classified({ chl: 80, who_level: 0, risk: 'low', color: high.color })
  assert.equal(riskText(harmless), 'High risk (reported: Low risk)')
  assert.match(meaning(harmless, null).join(' '), /do not bathe.*lower than the level of the value/)
  assert.match(meaning(scum, '2024-11-11').join(' '), /^Very many algae at that time/)
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
  const lakes = [classified({}), classified({ chl: 80, who_level: 2, risk: 'high', color: high.color }), classified({ chl: null })]
  for (const [risk, want] of [
    [null, ['low', 'high', 'none']], ['', ['low', 'high', 'none']], ['nonsense', ['low', 'high', 'none']],
    ['high', ['high']], ['high,none', ['high', 'none']], ['medium', []],
  ]) {
    const passes = riskFilter(/** @type {any} */ ({ get: () => ({ risk }) }))
    assert.deepEqual(lakes.filter(passes).map(riskClass), want, String(risk))
  }
})

test('search in the loaded lakes and in the answer of the server', () => {
  const lakes = [['a', 'Großer Müggelsee'], ['b', 'Kleiner Müggelsee'], ['c', 'Wannsee']].map(([id, name]) => classified({ id, name }))
  const loaded = { lakes, byId: new Map(lakes.map((l) => [l.id, l])), date: null, complete: true }
  const found = matchLakes(loaded, spellings('mueggel'), [])
  assert.deepEqual(found.map(({ lake: { id }, rank }) => [id, rank]), [['a', 1], ['b', 1]])
  const remote = matchLakes(loaded, spellings('berlin'), [classified({ id: 'c', name: 'from the server' }), classified({ id: 'far' })])
  assert.deepEqual(remote.map(({ lake: { id, name } }) => [id, name]), [['c', 'Wannsee'], ['far', 'Xsee']], 'a loaded lake replaces the record of the server')
  assert.equal(matchLakes(loaded, spellings(''), []).length, 3, 'an empty search finds all')
})

test('orders of the list', () => {
  const entry = (fields) => ({ lake: classified(fields), rank: 0, distance: 1 })
  const [bloom, clean, none] = [{ chl: 80, who_level: 2, risk: 'high', color: high.color }, {}, { chl: null }].map(entry)
  const scum = entry({ who_level: 3, risk: 'high' })
  assert.deepEqual([none, clean, bloom, scum].sort(orders.value), [scum, bloom, clean, none])
  assert.ok(orders.distance({ ...clean, distance: 1 }, { ...bloom, distance: 2 }) < 0)
  assert.equal(orders.name(clean, bloom), 0)
})

test('a name does not change the order of the value', () => {
  assert.equal(cleanText('See \u202e1.25\u2069\u2067'), 'See 1.25')
  assert.equal(cleanText('\u202e\u0301\u0301See'), '\u0301\u0301See')
  assert.equal(cleanText('\u0301\u0301See'), 'See')
  for (const name of ['Müggelsee', 'דריה כנרת\u200f (צפון)', 'دریاچه\u200cی ارومیه', 'क्\u200dष', '👩‍👩‍👧', '琵琶湖']) assert.equal(cleanText(name), name)
  const hostile = classified({ name: 'See \u202e1.25\u2066', chl: 52.1, who_level: 2, risk: 'high', color: high.color })
  assert.equal(hostile.name, 'See 1.25')
  assert.equal(summary(hostile), 'See 1.25: High risk, 52.1 µg/l')
})
