import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countLakes, highsText } from '../src/highs/highs.js'

const counts = (n, high) => ({ lakes_with_data: n, risk: { high } })

test('the first line of the page', () => {
  for (const [name, now, before, want] of /** @type {const} */ ([
    ['more', counts(340, 19), counts(344, 14), 'High risk: 19 lakes, 5 more than a week ago'],
    ['fewer', counts(340, 1), counts(344, 3), 'High risk: 1 lake, 2 fewer than a week ago'],
    ['as many', counts(340, 19), counts(340, 19), 'High risk: 19 lakes, as many as a week ago'],
    ['none of those with a value', counts(340, 0), counts(340, 1), 'High risk: none of 340 measured lakes, 1 fewer than a week ago'],
    ['no week before', counts(340, 19), undefined, 'High risk: 19 lakes'],
    ['the week before is not known', counts(340, 19), false, 'High risk: 19 lakes'],
    ['clouds: weeks that cannot be compared', counts(150, 3), counts(340, 19), 'High risk: 3 lakes'],
    ['a clear week after one with clouds', counts(340, 19), counts(150, 3), 'High risk: 19 lakes'],
    ['no value at all, which is not none', counts(0, 0), counts(340, 19), ''],
    ['closed lakes, which are worse than none', { ...counts(340, 0), closed: 2 }, counts(340, 1), 'Closed: 2'],
    ['closed lakes without a value', { ...counts(0, 0), closed: 1 }, undefined, 'Closed: 1'],
    ['closed lakes beside a high risk, without room for a comparison', { ...counts(340, 2), closed: 1 }, counts(340, 1), 'Closed: 1 · High risk: 2 lakes'],
    ['the server does not answer', undefined, undefined, ''],
  ])) assert.equal(highsText(now, before), want, name)
})

test('without a value, an earlier risk does not count, and a closed lake counts as closed only', () => {
  const lake = (chl, risk) => /** @type {any} */ ({ chl, risk })
  assert.deepEqual(countLakes([lake(60, 'high'), lake(5, 'high'), lake(5, 'low'), lake(null, 'high'), lake(null, null)]), { ...counts(3, 2), closed: 0 })
  assert.deepEqual(countLakes([lake(60, 'high'), { ...lake(60, 'high'), closed: true }, { ...lake(null, null), closed: true }]), { ...counts(2, 1), closed: 2 })
})
