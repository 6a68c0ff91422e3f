import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { count, days, fill, number, otherLanguage, words } from '../src/words.js'

const read = (path) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))

/** The paths of all texts, with the names that they fill in. */
function texts(group, path = '') {
  return Object.entries(group).flatMap(([name, value]) => (
    typeof value === 'string' ? [[`${path}.${name}`, value.match(/\{\w+\}/g)?.sort() ?? []]] : texts(value, `${path}.${name}`)
  ))
}

test('English and German have the same texts', () => {
  for (const folder of ['src/words', 'src/card/words', 'src/forecast/words', 'src/tell/words', 'src/push/words', 'pages', 'table']) {
    assert.deepEqual(texts(read(`${folder}/en.json`)), texts(read(`${folder}/de.json`)), folder)
  }
})

test('each text of index.html exists', () => {
  const page = readFileSync(new URL('../src/index.html', import.meta.url), 'utf8')
  for (const [, path] of page.matchAll(/data-(?:text|label)="([\w.]+)"/g)) {
    assert.equal(typeof path.split('.').reduce((group, name) => group?.[name], words), 'string', path)
  }
})

test('formats', () => {
  assert.equal(otherLanguage, 'de')
  assert.equal(fill('{n} of {n}, {x}', { n: 3, x: 'y' }), '3 of 3, y')
  assert.equal(count(words.list.found, 1), '1 lake')
  assert.equal(count(words.list.found, 1120), '1,120 lakes')
  assert.equal(number(0.123), '0.12')
  assert.match(days('2026-11-30', '2026-12-06'), /^30 Nov.–.6 Dec 2026$/u)
})
