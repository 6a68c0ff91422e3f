// The pages made on the server and the map say the same about a lake: TestVerdictsOfTheMap in package api writes the cases.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mock, test } from 'node:test'
import { classifyLakes, riskClass } from '../src/classify.js'
import { adviceOf, riskText, verdictText } from '../src/laketext.js'
import { words } from '../src/words.js'
import { who2003 } from './legends.mjs'

const { now, cases } = JSON.parse(readFileSync(new URL('verdicts.json', import.meta.url), 'utf8'))

test('the map has the verdicts of the server', () => {
  mock.timers.enable({ apis: ['Date'], now: Date.parse(now) })
  try {
    assert.ok(cases.length >= 40)
    for (const { lake, verdict } of cases) {
      const [got] = classifyLakes([lake], who2003, null)
      assert.deepEqual(
        { class: riskClass(got), risk: riskText(got), swim: verdictText(got), people: Object.keys(words.people).map((who) => adviceOf(got, who)), old: got.old, warned: got.warned, worse: got.worse ?? '' }, verdict, lake.name,
      )
    }
  } finally {
    mock.timers.reset()
  }
})
