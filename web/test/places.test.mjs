import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { places } from '../places.mjs'
import { placeAt } from '../src/coordinates.js'
import { parseQuery } from '../src/find/match.js'
import { decode, findPlaces } from '../src/find/places.js'

const gazetteer = decode(JSON.parse(places()))
const found = (text) => findPlaces(gazetteer, parseQuery(text))

test('places by name, in several languages, and by postcode', () => {
  for (const [query, want] of Object.entries({
    Köln: 'Köln, Nordrhein-Westfalen', Cologne: 'Cologne (Köln), Nordrhein-Westfalen', koeln: 'Köln, Nordrhein-Westfalen', cologn: 'Cologne (Köln), Nordrhein-Westfalen',
    Munich: 'Munich (München), Bayern', München: 'München, Bayern', muenchen: 'München, Bayern', Müchen: 'München, Bayern', Berlin: 'Berlin',
    Frankfurt: 'Frankfurt am Main, Hessen', 'Frankfurt Oder': 'Frankfurt (Oder), Brandenburg', Halle: 'Halle (Saale), Sachsen-Anhalt',
    Überlingen: 'Überlingen, Baden-Württemberg', uberlingen: 'Überlingen, Baden-Württemberg', 'Neustadt Bayern': 'Neustadt an der Aisch, Bayern',
    Wien: 'Wien, Austria', Vienna: 'Vienna (Wien), Austria', Prag: 'Prag (Praha), Czechia', Warschau: 'Warschau (Warszawa), Poland', Kopenhagen: 'Kopenhagen (København), Denmark',
    Straßburg: 'Straßburg (Strasbourg), France', Tokio: 'Tokio (Tokyo), Japan', 'New York': 'New York City, United States', Toronto: 'Toronto, Canada',
    Uckermark: 'Uckermark, Brandenburg', Spreewald: 'Spreewald, Brandenburg', 'Lake Constance': undefined, Constance: 'Constance (Konstanz), Baden-Württemberg',
    10115: '10115 Berlin', 101: '10115 Berlin', '50667 Köln': '50667 Köln, Nordrhein-Westfalen', '50667 Berlin': undefined, 99999: undefined, '01067': '01067 Dresden, Sachsen',
    Bayern: 'Schwandorf in Bayern, Bayern', ee: undefined, Qwertzingen: undefined,
  })) assert.equal(found(query)[0]?.name, want, query)
})

test('positions are right to a kilometre or so', () => {
  for (const [query, lat, lon] of /** @type {[string, number, number][]} */ ([
    ['Köln', 50.94, 6.96], ['10115', 52.53, 13.39], ['80331', 48.14, 11.57], ['Sydney', -33.87, 151.21], ['Honolulu', 21.31, -157.86], ['88662', 47.78, 9.17],
  ])) {
    const [place] = found(query)
    assert.ok(Math.abs(place.lat - lat) < 0.03 && Math.abs(place.lon - lon) < 0.03, `${query}: ${place.lat}, ${place.lon}`)
  }
})

test('all of Germany, and all its postcodes that the source knows', () => {
  assert.ok(gazetteer.all.filter(({ region }) => !/^[A-Z]{2}$/.test(region)).length > 8000, 'places')
  assert.equal(gazetteer.codes.length, 8289)
  for (const { code, lat, lon } of gazetteer.codes) assert.ok(/^\d{5}$/.test(code) && lat > 47 && lat < 55.2 && lon > 5.8 && lon < 15.1, `${code}: ${lat}, ${lon}`)
  assert.match(gazetteer.credit, /GeoNames/)
})

test('a gazetteer of another country, which mkplaces.mjs made', () => {
  const own = decode(JSON.parse(readFileSync(new URL('../../data/gazetteer/testdata/places.json', import.meta.url), 'utf8')))
  assert.equal(own.credit, 'Our own list')
  assert.deepEqual(own.codes.map(({ code, entry }) => `${code} ${entry.names[0]}`), ['8011 Ōtautahi', 'SW1A1AA London', 'K1A0A2 Ottawa', 'K2C Ottawa', 'K2P Ottawa', 'N6A London'])
  const names = (text) => findPlaces(own, parseQuery(text)).map(({ name }) => name)
  assert.deepEqual(names('london'), ['London, United Kingdom', 'London, Ontario'], 'the larger one first')
  assert.deepEqual(names('christchurch'), ['Christchurch (Ōtautahi), Canterbury'])
  assert.deepEqual(names('K1A 0A2'), ['K1A0A2 Ottawa, Ontario'])
  assert.deepEqual(names('sw1a'), ['SW1A1AA London, United Kingdom'])
  const [suva] = findPlaces(own, parseQuery('Suva'))
  assert.deepEqual([suva.lat, suva.lon], [-18.14, 178.44])
})

test('coordinates', () => {
  for (const [text, lat, lon] of /** @type {[string, number, number][]} */ ([
    ['52.42, 13.18', 52.42, 13.18], [' 52.42,13.18 ', 52.42, 13.18], ['52,42 13,18', 52.42, 13.18], ['52.42° N, 13.18° E', 52.42, 13.18], ['52,42°N 13,18°O', 52.42, 13.18], ['-33.9; -151.2', -33.9, -151.2],
  ])) assert.deepEqual(placeAt(text).map((place) => [place.lat, place.lon]), [[lat, lon]], text)
  for (const text of ['', '14467', '52 13', 'See 52.42', '99.5, 13.1', '52.4, 190.5', '52.42']) assert.deepEqual(placeAt(text), [], text)
})
