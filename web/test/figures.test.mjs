// The pages made on the server and the map round alike: TestFigures in package words reads the same cases.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cellLimits, concentration, figure, setLimits } from '../src/words.js'
import { uba2015, who2003, who2021 } from './legends.mjs'

const cases = JSON.parse(readFileSync(new URL('figures.json', import.meta.url), 'utf8'))
const legends = { who2003, who2021, uba2015 }

test('numbers have two significant figures, and more where fewer would contradict their class', () => {
  try {
    for (const { profile, chl, cells, text } of cases) {
      setLimits(legends[profile])
      assert.equal(cells === undefined ? figure(chl) : figure(cells, cellLimits), text, `${profile}: ${chl ?? cells}`)
      if (cells === undefined) assert.equal(concentration(chl), `${text}\u00a0µg/l`)
    }
  } finally {
    setLimits({ classes: [], steps: [] })
  }
})
