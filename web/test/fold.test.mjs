import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { rank, spellings } from '../src/match.js'

// TestSearchFoldsNames in web/pagetest checks the same file with the server's search.
const { lakes, queries } = JSON.parse(readFileSync(new URL('fold.json', import.meta.url), 'utf8'))

test('the page finds the names that the server finds', () => {
  for (const [query, want] of Object.entries(queries)) {
    const wanted = spellings(query)
    const found = Object.keys(lakes).filter((id) => rank(spellings(lakes[id]), wanted) < 3)
    assert.deepEqual(found.sort(), want, query)
  }
})

test('ranks', () => {
  for (const [name, query, want] of [
    ['Müggelsee', 'mugg', 0], ['Großer Müggelsee', 'MUEGG', 1], ['Großer Müggelsee', 'see', 2], ['Wannsee', 'mugg', 3], ['Wannsee', '', 0],
  ]) {
    assert.equal(rank(spellings(String(name)), spellings(String(query))), want, `${name}, ${query}`)
  }
})

test('a text without words', () => {
  assert.deepEqual(spellings(' -’ '), [' '])
})
