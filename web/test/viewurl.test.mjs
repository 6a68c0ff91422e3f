import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stopsOf } from '../src/stops.js'
import { bbox } from '../src/share/embedcode.js'
import { tileURL } from '../src/tiles.js'
import { formatView, parseView } from '../src/view.js'

const empty = { lat: null, lon: null, zoom: null, date: null, style: null, colormap: null, lake: null, risk: null, opacity: null, forecast: null }

test('a view and its fragment', () => {
  for (const [fragment, view] of /** @type {[string, object][]} */ ([
    ['', {}],
    ['#map=6/51.1000/10.4000', { zoom: 6, lat: 51.1, lon: 10.4 }],
    ['#map=6.5/-51.1000/-10.4000&date=2026-10-05&style=lakes&colormap=cividis&lake=de_by_starnberger_see&risk=high,none&opacity=40',
      { zoom: 6.5, lat: -51.1, lon: -10.4, date: '2026-10-05', style: 'lakes', colormap: 'cividis', lake: 'de_by_starnberger_see', risk: 'high,none', opacity: 40 }],
    ['#lake=a%26b%23c%2Bd', { lake: 'a&b#c+d' }],
    ['#lake=a&beside=2026-10-05&seen=7', { lake: 'a', beside: '2026-10-05', seen: '7' }],
    ['#forecast=4', { forecast: '4' }],
  ])) {
    assert.equal(formatView({ ...empty, ...view }), fragment)
    assert.deepEqual(parseView(fragment.slice(1)), view)
  }
})

test('invalid fields are ignored', () => {
  for (const text of ['map=99/abc/200', 'map=6', 'map=6/95/10', 'map=6/50/181', 'map=-1/50/10', 'lake=', 'opacity=-5', 'opacity=101', 'opacity=', 'opacity=x', 'risk=', 'forecast=', 'forecast=0', 'forecast=5', 'forecast=-1', 'forecast=01', '%', `map=${'9'.repeat(5000)}`, `lake=${'x'.repeat(65)}`, 'unknown=1']) {
    assert.deepEqual(parseView(text), {}, text.slice(0, 40))
  }
  assert.deepEqual(parseView('lake=../x&style=<b>'), { lake: '../x', style: '<b>' }, 'checked where they are used')
  assert.deepEqual(parseView('opacity=0'), { opacity: 0 })
  assert.deepEqual(parseView('date=2026-10-05&forecast=1'), { forecast: '1' }, 'a forecast has no other week')
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
    assert.equal(tileURL({ date, style, colormap, risk, forecast: null }, page), want)
  }
})

test('the tiles of a forecast have its version, and neither week, colours nor filter', () => {
  const styles = [{ id: 'heat', title: '', default: true }, { id: 'dots', title: '' }]
  const colormaps = [{ id: 'limno', title: '', default: true }, { id: 'algae', title: '' }]
  const config = /** @type {Config} */ ({ version: '7', forecast: { issued_at: '2026-11-16', weeks: 4, version: '7-f' } })
  const path = 'api/v1/tiles/{z}/{x}/{y}{r}.png'
  const view = { date: null, style: 'dots', colormap: 'algae', risk: 'high' }
  for (const [forecast, settings, want] of /** @type {const} */ ([
    ['2', config, `${path}?forecast=2&v=7-f`],
    ['0', config, `${path}?style=dots&colormap=algae&risk=high&v=7`],
    ['2', { ...config, forecast: null }, `${path}?style=dots&colormap=algae&risk=high&v=7`],
  ])) {
    assert.equal(tileURL({ ...view, forecast }, { styles, colormaps, config: settings }), want)
  }
  const lakes = [...styles, { id: 'lakes', title: '' }]
  assert.equal(tileURL({ ...view, style: 'lakes', forecast: '2' }, { styles: lakes, colormaps, config }), `${path}?style=lakes&forecast=2&v=7-f`)
})

test('the stops of the timeline after the weeks are the days of the forecast that are not over', () => {
  const issue = { issued_at: '2026-11-16', weeks: 4, version: 'f' }
  const weeks = (now) => stopsOf(issue, Date.parse(now)).map(({ week }) => week).join('')
  for (const [now, want] of /** @type {const} */ ([['2026-11-18', '1234'], ['2026-11-23T23:59:00Z', '1234'], ['2026-11-24', '234'], ['2026-12-14', '4'], ['2026-12-15', '']])) assert.equal(weeks(now), want, now)
  assert.equal(new Date(stopsOf(issue, Date.parse('2026-11-18'))[1].time).toISOString(), '2026-11-30T00:00:00.000Z')
  assert.deepEqual(stopsOf(null), [], 'no forecast')
})
