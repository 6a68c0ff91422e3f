import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { beginsNearly, createIndex, findIn, fold, matchLakes, parseQuery, ranks, spellings } from '../src/find/match.js'

// TestSearchFoldsNames in web/pagetest checks the same file with the server's search.
const { lakes, queries } = JSON.parse(readFileSync(new URL('fold.json', import.meta.url), 'utf8'))

/** @param {[string, string][]} names id and name of each */
const found = (names, text, remote = []) => {
  const list = names.map(([id, name]) => /** @type {any} */ ({ id, name }))
  const loaded = /** @type {Lakes} */ ({ lakes: list, byId: new Map(list.map((l) => [l.id, l])), date: null, complete: true, forecast: null })
  return matchLakes(loaded, parseQuery(text), remote).sort((a, b) => a.rank - b.rank).map(({ lake }) => lake.id)
}

test('the page finds the names that the server finds', () => {
  for (const [query, want] of Object.entries(queries)) assert.deepEqual(found(Object.entries(lakes), query).sort(), want, query)
})

test('ranks', () => {
  for (const [name, region, query, want] of [
    ['Müggelsee', '', 'mugg', ranks.atStart], ['Großer Müggelsee', '', 'MUEGG', ranks.startsWord], ['Großer Müggelsee', '', 'see', ranks.insideWord],
    ['Wannsee', '', 'mugg', ranks.none], ['Großer Müggelsee', '', 'müggelsee gross', ranks.startsWord], ['Großer Müggelsee', '', 'großer müggel', ranks.atStart],
    ['Wannsee', 'Berlin', 'berlin', ranks.isRegion], ['Wannsee', 'Berlin', 'berl', ranks.startsRegion], ['Wannsee', 'Berlin', 'erlin', ranks.insideRegion],
    ['Wannsee', 'Berlin', 'wannsee berlin', ranks.isRegion], ['Wannsee', 'Berlin', 'see ber', ranks.insideWord], ['Wannsee', 'Berlin', 'wannsee bayern', ranks.none],
    ['Müggelsee', '', 'Mügelsee', ranks.misspelt], ['Müggelsee', '', 'mgügelsee', ranks.misspelt], ['Müggelsee', 'Berlin', 'brelin', ranks.misspelt],
    ['Köse', '', 'köln', ranks.none], ['See 12345', '', '12346', ranks.none],
  ]) {
    const [match] = findIn(parseQuery(String(query)), createIndex([fold([String(name)])], [0], [fold([String(region)])]))
    assert.equal(match?.rank ?? ranks.none, want, `${name}, ${query}`)
  }
})

test('a typing error is a letter too few, too many, another one, or two that are swapped', () => {
  for (const [word, want] of Object.entries({
    tegernsee: true, tegrnsee: true, tegeernsee: true, tegexnsee: true, tegrensee: true, xtegernsee: true, egernsee: true, tegernsex: true, tegern: true, tegersn: true,
    etgernsee: true, tegrnse: true, tegrnze: false, tgeresnee: false, tegernseeab: false,
  })) assert.equal(beginsNearly(' tegernsee', 1, word), want, word)
  assert.equal(beginsNearly(' am see', 1, 'ams'), true, 'one letter too many at the end of a word')
  assert.equal(beginsNearly(' am see', 1, 'amsee'), false, 'a space is no letter')
})

test('typing errors count only where nothing begins a word', () => {
  const names = /** @type {[string, string][]} */ ([['a', 'Wannsee'], ['b', 'Schwansee'], ['c', 'Wanssee']])
  assert.deepEqual(found(names, 'wansee'), ['b', 'a', 'c'], 'a part of a word comes first')
  assert.deepEqual(found(names, 'wannsee'), ['a'])
})

test('a state is found by its names and its code in ids', () => {
  const names = /** @type {[string, string][]} */ ([['DEBY_PR_1', 'Alpsee'], ['de_nw_x', 'Baldeneysee'], ['DESN_1', 'Cossi'], ['DEST_1', 'Arendsee'], ['x', 'Überlingen'], ['DEBE_1', 'Wannsee']])
  for (const [query, want] of Object.entries({
    Bayern: ['DEBY_PR_1'], bavaria: ['DEBY_PR_1'], NRW: ['de_nw_x'], Sachsen: ['DESN_1', 'DEST_1'], 'saxony anhalt': ['DEST_1'], Berlin: ['DEBE_1', 'x'], 'wannsee berlin': ['DEBE_1'],
  })) assert.deepEqual(found(names, query), want, query)
})

test('a text without words', () => {
  assert.deepEqual(spellings(' -’ '), [' '])
  assert.equal(parseQuery(' -’ '), null)
})
