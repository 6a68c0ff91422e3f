import assert from 'node:assert/strict'
import { test } from 'node:test'
import { weekNumber } from '../src/calendar.js'
import { countLakes, highsText } from '../src/highs/highs.js'

const counts = (n, high, both = undefined) => ({ lakes_with_data: n, measured: 150, high, high_measured: Math.floor(high / 2), closed: 0, both_weeks: both && { measured: both[0], high: both[1], high_before: both[2] } })

test('the first line of the page', () => {
  for (const [name, now, wantLine, wantChange] of /** @type {const} */ ([
    ['more', counts(340, 19, [140, 9, 4]), 'High risk: 19 lakes, 9 measured this week', ' · 140 lakes measured in both weeks: 5 more than the week before'],
    ['fewer, though more lakes have a high risk', counts(340, 1, [140, 0, 2]), 'High risk: 1 lake, 0 measured this week', ' · 140 lakes measured in both weeks: 2 fewer than the week before'],
    ['as many', counts(340, 19, [140, 9, 9]), 'High risk: 19 lakes, 9 measured this week', ' · 140 lakes measured in both weeks: as many as the week before'],
    ['none of those with a value', counts(340, 0, [140, 0, 1]), 'High risk: none of 340 measured lakes, 150 measured this week', ' · 140 lakes measured in both weeks: 1 fewer than the week before'],
    ['no lake was measured in both weeks', counts(340, 19, [0, 0, 0]), 'High risk: 19 lakes, 9 measured this week', ''],
    ['the server does not answer', counts(340, 19), 'High risk: 19 lakes, 9 measured this week', ''],
    ['no value at all, which is not none', counts(0, 0), '', ''],
    ['closed lakes, which are worse than none', { ...counts(340, 0, [140, 0, 0]), closed: 2 }, 'Closed: 2', ''],
    ['closed lakes without a value', { ...counts(0, 0), closed: 1 }, 'Closed: 1', ''],
    ['closed lakes beside a high risk, without a comparison', { ...counts(340, 2, [140, 1, 0]), closed: 1 }, 'Closed: 1 · High risk: 2 lakes', ', 1 measured this week'],
    ['how many were seen', { ...counts(340, 19, [140, 9, 4]), total_lakes: 360 }, 'High risk: 19 lakes, 9 measured this week', ' · 42 % of the lakes seen · 140 lakes measured in both weeks: 5 more than the week before'],
    ['how many were seen beside a closed lake', { ...counts(340, 2, [140, 1, 0]), closed: 1, total_lakes: 360 }, 'Closed: 1 · High risk: 2 lakes', ', 1 measured this week · 42 % of the lakes seen'],
    ['nothing is known', undefined, '', ''],
  ])) assert.deepEqual([...highsText(now, true), ''].slice(0, 2), [wantLine, wantChange], name)
  assert.equal(highsText(counts(340, 19), false)[0], 'High risk: 19 lakes, 9 measured that week', 'a week that is over')
})

test('without a value, an earlier risk does not count, an older value is not of the week, and a closed lake counts as closed only', () => {
  const lake = (chl, risk, day = '2026-11-24T10:30:00Z') => /** @type {any} */ ({ chl, risk, measured_at: day })
  const older = '2026-11-22T23:00:00Z' // the Sunday before
  assert.deepEqual(countLakes([lake(60, 'high'), lake(5, 'high', older), lake(5, 'low'), lake(null, 'high'), lake(null, null, null)], weekNumber('2026-11-23')),
    { total_lakes: 5, lakes_with_data: 3, measured: 2, high: 2, high_measured: 1, closed: 0 })
  assert.deepEqual(countLakes([lake(60, 'high'), { ...lake(60, 'high'), closed: true }, { ...lake(null, null), closed: true }], weekNumber('2026-11-23')),
    { total_lakes: 3, lakes_with_data: 2, measured: 2, high: 1, high_measured: 1, closed: 2 })
})
