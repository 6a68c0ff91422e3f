import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listOf } from '../mkplaces.mjs'

const table = `name,lat,lon,population,country,region,postcode,other_names,note
Ottawa,45.4215,-75.6972,1017449,CA,Ontario,K1A 0A2; K2P,,
London,51.5072,-0.1276,8799800,GB,,SW1A 1AA,Londres|Londra,the capital
Ottawa,45.35,-75.75,,CA,Ontario,K2C,Odawa,a second row of the same place
London,42.9837,-81.2497,422324,CA,Ontario,N6A,,another London
"Saint-Louis, Haut",-21.286,55.411,,FR,,,,
Suva,-18.1416,178.4419,93970,FJ,,,,

Ōtautahi,-43.532,172.6366,389300,NZ,Canterbury,8011,Christchurch,
`

// The server checks the same list in data/gazetteer.
test('a table becomes a list', () => {
  const want = readFileSync(new URL('../../data/gazetteer/testdata/places.json', import.meta.url), 'utf8')
  assert.equal(listOf(table, 'Our own list'), want)
  assert.equal(listOf(table.replaceAll('\n', '\r\n'), 'Our own list'), want)
})

test('a place on both sides of the date line, and one postcode of two places', () => {
  const list = JSON.parse(listOf('lon,lat,name,postcode\n179.99,0,A,12\n-179.99,0,A,\n50,10,B,12\n', ''))
  assert.equal(list.names, 'A\nB')
  assert.equal(list.codes, '=12\n=12')
})

test('bad tables are refused by row and column', () => {
  for (const [text, want] of [
    ['', 'row 1: no places'], ['name,lon\n', 'row 1: no column lat'], ['name,lat,lon\n', 'row 2: no places'],
    ['name,lat,lon\nA,1,2\n ,1,2\n', 'row 3: column name: empty'], ['name,lat,lon\nA|B,1,2\n', 'row 2: column name: a | or a control character'],
    ['name,lat,lon\nA\u202e,1,2\n', 'row 2: column name: a character that changes'], [`name,lat,lon\n${'ä'.repeat(201)},1,2\n`, 'row 2: column name: more than 200 characters'],
    ['name,lat,lon\nA,91,2\n', 'row 2: column lat: "91" is no number from -90 to 90'], ['name,lat,lon\nA,"1,5",2\n', 'row 2: column lat'],
    ['name,lat,lon\nA,1,\n', 'row 2: column lon'], ['name,lat,lon\nA,NaN,2\n', 'row 2: column lat'],
    ['name,lat,lon,population\nA,1,2,many\n', 'row 2: column population: "many"'], ['name,lat,lon,population\nA,1,2,-1\n', 'row 2: column population'],
    ['name,lat,lon,postcode\nA,1,2,12/34\n', 'row 2: column postcode'], ['name,lat,lon,postcode\nA,1,2,1234567890123\n', 'row 2: column postcode'],
    ['name,lat,lon,postcode\nA,1,2,1; ;2\n', 'row 2: column postcode'],
    [`name,lat,lon,other_names\nA,1,2,${'bcdefghijklmnopqrstuv'.split('').join(';')}\n`, 'row 2: column other_names'],
    ['name,lat,lon\nA,1\n', 'row 2: 2 fields'], ['name,lat,lon\n"A,1,2\n', 'row 2: a quote is misplaced'],
  ]) assert.throws(() => listOf(text, ''), (/** @type {Error} */ error) => error.message.startsWith(want), want)
})
