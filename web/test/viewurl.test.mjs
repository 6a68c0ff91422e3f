import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bbox } from '../src/share.js'
import { tileURL } from '../src/tiles.js'
import { formatView, parseView } from '../src/view.js'

const empty = { lat: null, lon: null, zoom: null, date: null, style: null, colormap: null, lake: null, risk: null, opacity: null }

test('a view and its fragment', () => {
  for (const [fragment, view] of /** @type {[string, object][]} */ ([
    ['', {}],
    ['#map=6/51.1000/10.4000', { zoom: 6, lat: 51.1, lon: 10.4 }],
    ['#map=6.5/-51.1000/-10.4000&date=2026-10-05&style=lakes&colormap=lightness&lake=de_by_starnberger_see&risk=high,none&opacity=40',
      { zoom: 6.5, lat: -51.1, lon: -10.4, date: '2026-10-05', style: 'lakes', colormap: 'lightness', lake: 'de_by_starnberger_see', risk: 'high,none', opacity: 40 }],
    ['#lake=a%26b%23c%2Bd', { lake: 'a&b#c+d' }],
  ])) {
    assert.equal(formatView({ ...empty, ...view }), fragment)
    assert.deepEqual(parseView(fragment.slice(1)), view)
  }
})

test('invalid fields are ignored', () => {
  for (const text of ['map=99/abc/200', 'map=6', 'map=6/95/10', 'map=6/50/181', 'map=-1/50/10', 'lake=', 'opacity=-5', 'opacity=101', 'opacity=', 'opacity=x', 'risk=', '%', `map=${'9'.repeat(5000)}`, `lake=${'x'.repeat(65)}`, 'unknown=1']) {
    assert.deepEqual(parseView(text), {}, text.slice(0, 40))
  }
  assert.deepEqual(parseView('lake=../x&style=<b>'), { lake: '../x', style: '<b>' }, 'checked where they are used')
  assert.deepEqual(parseView('opacity=0'), { opacity: 0 })
})

test('the bbox of an iframe', () => {
  const point = (lat, lng) => ({ lat, lng, wrap: () => ({ lat, lng: (lng + 540) % 360 - 180 }) })
  const bounds = (west, south, east, north) => /** @type {any} */ ({ getSouthWest: () => point(south, west), getNorthEast: () => point(north, east) })
  assert.equal(bbox(bounds(5.123456, 47, 15, 55)), '5.1235,47,15,55')
  assert.equal(bbox(bounds(175, -10, 190, 10)), '175,-10,-170,10', 'across the antimeridian')
  assert.equal(bbox(bounds(-300, -80, 300, 80)), '-180,-80,180,80', 'wider than the globe')
})

test('the address of a tile leaves out defaults', () => {
  const styles = [{ id: 'heat', title: '', default: true }, { id: 'dots', title: '' }, { id: 'lakes', title: '' }]
  const colormaps = [{ id: 'limno', title: '', default: true }, { id: 'algae', title: '' }]
  const page = { styles, colormaps, config: /** @type {Config} */ ({ version: '7' }) }
  const path = 'api/v1/tiles/{z}/{x}/{y}{r}.png'
  for (const [date, style, colormap, risk, want] of [
    [null, null, null, null, `${path}?v=7`], [null, 'heat', 'limno', null, `${path}?v=7`], [null, 'nonsense', 'nonsense', null, `${path}?v=7`],
    ['2026-10-05', 'lakes', 'algae', null, `${path}?date=2026-10-05&style=lakes&colormap=algae&v=7`],
    [null, 'lakes', null, 'none,high,x,high', `${path}?style=lakes&risk=high%2Cnone&v=7`], [null, 'dots', null, 'closed', `${path}?style=dots&risk=closed&v=7`],
    [null, 'dots', null, 'x', `${path}?style=dots&v=7`], [null, 'dots', null, '', `${path}?style=dots&v=7`],
    [null, 'dots', null, 'low,none,closed,medium,high', `${path}?style=dots&v=7`],
    [null, 'heat', null, 'high', `${path}?v=7`], [null, null, null, 'high', `${path}?v=7`],
  ]) {
    assert.equal(tileURL({ date, style, colormap, risk }, page), want)
  }
})
