import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { comparedTexts, dayOfYear, knownTexts } from '../src/known/text.js'

const text = JSON.parse(readFileSync(new URL('../src/card/words/en.json', import.meta.url), 'utf8')).known

test('the day of the year has no 29 February', () => {
  for (const [day, want] of /** @type {const} */ ([['2026-01-01', 1], ['2024-02-28', 59], ['2024-02-29', 59], ['2024-03-01', 60], ['2026-12-31', 365]])) assert.equal(dayOfYear(day), want, day)
})

test('how often the satellite was right', () => {
  const compared = { samples: { samples: 34, same_class: 27, shown_lower: 4, shown_higher: 3 }, groups: [{ biased: true, factor: 1.5, match_ups: 12 }, { biased: true, factor: 0.513, match_ups: 22 }] }
  assert.deepEqual(comparedTexts(compared, text), [
    'Of 34 samples here, the satellite showed the class of 27, a lower one of 4 and a higher one of 3.', 'Here the satellite’s values are 0.5 times those of samples: they are biased.',
  ])
  assert.deepEqual(comparedTexts({ samples: { ...compared.samples, samples: 4 }, groups: [] }, text), [])
  assert.deepEqual(comparedTexts({ groups: [] }, text), [])
})

test('where the newest value stands, and a trend only if it is significant', () => {
  const newest = { date: '2026-07-16', years: 10, years_lower: 9, years_higher: 1 }
  const trend = { slope: -0.213, significant: true, first: 2012, last: 2026 }
  assert.deepEqual(knownTexts({ newest, trend }, text), [
    'The value of 16 Jul 2026 is higher than in 9 of 10 other years at this time of the year.', 'From 2012 to 2026 the chlorophyll fell by 0.21 µg/l a year.',
  ])
  assert.deepEqual(knownTexts({ newest: { ...newest, years_lower: 2, years_higher: 8 }, trend: { ...trend, significant: false } }, text), ['The value of 16 Jul 2026 is lower than in 8 of 10 other years at this time of the year.'])
  assert.deepEqual(knownTexts({ newest: null, trend: null }, text), [])
  assert.deepEqual(knownTexts(null, text), [])
})
