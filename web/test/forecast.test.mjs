import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chances, forecastLines } from '../src/card/forecast.js'

test('chances are tenths that add up to ten', () => {
  for (const [low, medium, want] of /** @type {const} */ ([
    [0.7, 0.28, '7 in 10: low; 3 in 10: medium or high'],
    [0.7, 0.2, '7 in 10: low; 2 in 10: medium; 1 in 10: high'],
    [0.25, 0.5, '3 in 10: low; 5 in 10: medium; 2 in 10: high'],
    [0.5, 0.5, '5 in 10: low; 5 in 10: medium or high'],
    [0.997, 0.003, 'more than 9 in 10: low; less than 1 in 10: medium or high'],
    [0.02, 0.02, 'less than 1 in 10: low; less than 1 in 10: medium; more than 9 in 10: high'],
    [0.02, 0.95, 'less than 1 in 10: low; more than 9 in 10: medium or high'],
    [0.55, 0, '6 in 10: low; less than 1 in 10: medium; 4 in 10: high'],
  ])) assert.equal(chances({ low, medium }), want, `${low} ${medium}`)
})

test('the tenths of all probabilities add up to ten', () => {
  for (let low = 0; low <= 100; low++) {
    for (let medium = 0; low + medium <= 100; medium++) {
      const parts = chances({ low: low / 100, medium: medium / 100 }).split('; ')
      const tenths = parts.map((part) => (part.startsWith('less') ? 0 : part.startsWith('more') ? 10 : Number.parseInt(part)))
      assert.equal(tenths.reduce((a, b) => a + b), 10, parts.join())
    }
  }
})

const now = Date.parse('2026-06-08T09:00:00Z')
const step = /** @type {any} */ ({ issued_at: '2026-06-03', time: Date.parse('2026-06-10'), probabilities: { low: 0.7, medium: 0.27, high: 0.03 } })
/** @returns {LakeForecast} */
const forecast = (fields = {}) => ({ issued_at: '2026-06-03', withheld: null, based_on: '2026-06-03', skill: { region: 'Bavaria', weeks: [{ week: 1, closer_percent: 22.4 }, { week: 2, closer_percent: 15 }] }, ...fields })
const lines = (entries, fields) => forecastLines({ entries, forecast: fields === null ? null : forecast(fields) }, now)

test('a forecast in words', () => {
  assert.deepEqual(lines([step], {}), [
    'Forecast for 10 Jun 2026: 7 in 10: low; 3 in 10: medium or high.',
    'A statistical model from this lake’s earlier values; it knows no weather.',
    'In past years in \u2068Bavaria\u2069 it was 22 % closer than the last value, one week ahead.',
    'Based on the value of 3 Jun 2026, 5 days old.',
  ])
})

test('the worth of a forecast', () => {
  const worth = (skill) => lines([step], { skill })[2]
  assert.match(worth({ region: null, weeks: [{ week: 1, closer_percent: 9 }] }), /^In past years at all lakes it was 9 %/)
  assert.match(worth({ region: 'Ba\u202eva', weeks: [{ week: 1, closer_percent: -3 }] }), /^In past years in \u2068Bava\u2069 it was not closer than the last value/)
  for (const skill of [null, { region: null, weeks: [] }, { region: null, weeks: [{ week: 1, closer_percent: null }] }]) assert.match(worth(skill), /^Based on/)
})

test('without a forecast', () => {
  assert.deepEqual(lines([], null), [])
  assert.deepEqual(forecastLines({ entries: [] }), [], 'an older server')
  for (const [withheld, why] of /** @type {const} */ ([
    ['few_values', 'fewer than 5 values'], ['old_value', 'the last value is older than 6 weeks'], ['out_of_season', 'no value was ever seen at this time of year'],
    ['last_value_better', 'in past years the last value was closer'],
  ])) assert.deepEqual(lines([], { withheld }), [`No forecast: ${why}.`])
  assert.deepEqual(lines([], {}), ['No forecast: the days of the forecast of 3 Jun 2026 are over.'])
})
