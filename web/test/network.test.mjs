import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { beforeEach, mock, test } from 'node:test'
import { fetchJSON, retryDelay } from '../src/fetchjson.js'
import { createLakeStore } from '../src/lakestore.js'
import { addRefresh } from '../src/refresh.js'
import { createSearch } from '../src/find/server.js'
import { retryTiles } from '../src/tiles.js'
import { colormaps, greys, who2003 } from './legends.mjs'

const flush = () => new Promise((resolve) => { setImmediate(resolve) })

beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout'] })
})

/** Replaces fetch by a function of the URL and returns the URLs that are requested. */
function fakeFetch(answer) {
  const urls = []
  globalThis.fetch = /** @type {any} */ (async (url, options = {}) => {
    urls.push(String(url))
    return answer(String(url), options)
  })
  return urls
}

test('Retry-After within bounds', () => {
  for (const [header, want] of /** @type {[string | null, number][]} */ ([[null, 5], ['2', 2], ['0', 5], ['-3', 1], ['3600', 30], ['soon', 5]])) {
    assert.equal(retryDelay(header), want, String(header))
  }
})

test('JSON is requested again after 503 and 429', async () => {
  let n = 0
  const urls = fakeFetch(() => [new Response('', { status: 503, headers: { 'Retry-After': '1' } }), new Response('', { status: 429 }), Response.json({ ok: true })][n++])
  const messages = []
  const answer = fetchJSON('styles', {}, (text) => messages.push(text))
  await flush()
  mock.timers.tick(1000)
  await flush()
  assert.equal(urls.length, 2)
  mock.timers.tick(5000)
  assert.deepEqual(await answer, { ok: true })
  assert.deepEqual(messages, ['The server is still loading its data. The map will appear in a moment.'], 'one message, for the 503')
})

test('JSON is not requested again after other errors', async () => {
  const urls = fakeFetch(() => new Response('', { status: 404 }))
  await assert.rejects(fetchJSON('styles'), /styles: 404/)
  assert.equal(urls.length, 1)
})

test('a search waits for the last key, and is repeated after a failure', async () => {
  const busy = new Set(['hamburg'])
  const urls = fakeFetch((url) => {
    const q = new URL(url, 'http://lakes.example').searchParams.get('q')
    return busy.delete(q) ? new Response('', { status: 429 }) : Response.json({ lakes: [{ id: q, name: q, chl: null, measured_at: null }] })
  })
  const results = []
  const search = createSearch(/** @type {any} */ ({ legend: who2003, store: { get: () => ({ date: '2026-10-05' }) } }), (lakes) => results.push(lakes?.map((l) => l.id) ?? null))
  search('ham')
  mock.timers.tick(200)
  search('hamburg')
  mock.timers.tick(250)
  await flush()
  assert.deepEqual(urls, ['api/v1/bathing-lakes/search?q=hamburg&limit=500&date=2026-10-05'])
  assert.deepEqual(results, [null])
  mock.timers.tick(5000)
  await flush()
  assert.deepEqual(results, [null, ['hamburg']])
  search('')
  mock.timers.tick(60_000)
  assert.equal(urls.length, 2, 'an empty text is not searched for')
})

test('a new search cancels the one before', async () => {
  const results = []
  fakeFetch((url, { signal }) => (url.includes('q=a&') ? new Promise((_, reject) => { signal.onabort = () => reject(signal.reason) }) : Response.json({ lakes: [] })))
  const search = createSearch(/** @type {any} */ ({ legend: who2003, store: { get: () => ({ date: null }) } }), (lakes) => results.push(lakes))
  search('a')
  mock.timers.tick(250)
  await flush()
  search('b')
  mock.timers.tick(250)
  await flush()
  await flush()
  assert.deepEqual(results, [[]])
})

/** A view that tests change with set. */
function fakeView(state) {
  const listeners = []
  return {
    get: () => state,
    set(patch) {
      Object.assign(state, patch)
      for (const { names, listener } of listeners) if (names.some((n) => n in patch)) listener()
    },
    on: (names, listener) => listeners.push({ names, listener }),
  }
}

test('the store loads all lakes of a week', async () => {
  const urls = fakeFetch(() => Response.json({ lakes: [{ id: 'a', name: 'A', chl: 3, risk: 'low', color: '#1a9850', who_level: 0, measured_at: '2026-11-16T10:00:00Z' }, { id: 'b', name: 'B', chl: null, measured_at: '2026-11-18T10:00:00Z' }] }))
  const view = fakeView({ date: null })
  const store = createLakeStore(/** @type {any} */ (view), /** @type {any} */ ({ config: { total_lakes: 2 }, legend: who2003, colormaps }))
  const shown = []
  store.beforeShow(async (date) => () => shown.push(date))
  store.on(({ date }) => shown.push(`lakes of ${date}`))
  const { lakes, byId, newest, complete } = await store.load()
  assert.deepEqual([lakes.length, byId.get('a').display.risk, newest, complete], [2, 'low', '2026-11-18T10:00:00Z', true])
  view.set({ date: '2026-10-05' })
  view.set({ date: '2026-10-12' })
  mock.timers.tick(0)
  await flush()
  await flush()
  assert.deepEqual(urls, ['api/v1/bathing-lakes/status', 'api/v1/bathing-lakes/status?date=2026-10-12'])
  assert.deepEqual(shown, [null, 'lakes of null', '2026-10-12', 'lakes of 2026-10-12'], 'tiles and lakes change together')
})

test('another colour map is shown with its legend, its tiles and the recoloured lakes at once', async () => {
  const answers = { 'legend.json': who2003, 'legend.json?colormap=greys': greys, 'bathing-lakes/status': { lakes: [{ id: 'a', name: 'A', chl: 3, risk: 'low', color: '#1a9850', who_level: 0, measured_at: '2026-11-16T10:00:00Z' }] } }
  const urls = fakeFetch((url) => Response.json(answers[url.slice('api/v1/'.length)]))
  const view = fakeView({ date: null, colormap: null })
  const legend = { ...who2003 }
  const store = createLakeStore(/** @type {any} */ (view), /** @type {any} */ ({ config: { total_lakes: 1 }, legend, colormaps }))
  const shown = []
  store.beforeShow(async () => () => shown.push(`tiles with the legend ${legend.colormap}`))
  store.on(({ byId }) => shown.push(`${byId.get('a').display.color} with the legend ${legend.colormap}`))
  for (const colormap of [null, 'greys', 'nonsense']) {
    view.set({ colormap })
    mock.timers.tick(0)
    await flush()
    await flush()
  }
  assert.deepEqual(shown, [
    'tiles with the legend limno', '#91cf60 with the legend limno', 'tiles with the legend greys', '#010101 with the legend greys',
    'tiles with the legend limno', '#91cf60 with the legend limno',
  ])
  assert.deepEqual(urls.filter((url) => url.includes('legend')), ['api/v1/legend.json?colormap=greys', 'api/v1/legend.json'], 'only a change is loaded')
})

test('of very many lakes the store loads those near the centre', async () => {
  const urls = fakeFetch(() => Response.json({ lakes: [] }))
  const view = fakeView({ date: '2026-10-05', lat: 52.5, lon: 13.4, zoom: 10 })
  const store = createLakeStore(/** @type {any} */ (view), /** @type {any} */ ({ config: { total_lakes: 20_001 }, legend: who2003, colormaps }))
  assert.equal((await store.load()).complete, false)
  assert.deepEqual(urls, ['api/v1/bathing-lakes/near?lat=52.5&lon=13.4&radius_km=39.063&limit=1000&date=2026-10-05'])
})

test('only the lakes of the newest week are confirmed by the server', async () => {
  for (const [date, total, want] of /** @type {const} */ ([[null, 2, 'no-cache'], [null, 50_000, 'no-cache'], ['2026-06-01', 2, undefined]])) {
    const modes = []
    fakeFetch((_, { cache }) => {
      modes.push(cache)
      return Response.json({ lakes: [] })
    })
    const store = createLakeStore(/** @type {any} */ (fakeView({ date })), /** @type {any} */ ({ config: { total_lakes: total }, legend: who2003, colormaps }))
    await store.load()
    await store.prefetch(date)
    assert.deepEqual(modes, [want, undefined])
  }
})

test('the service worker passes the mode of the cache on', async () => {
  const source = await readFile(new URL('../src/sw.js', import.meta.url), 'utf8')
  const self = /** @type {any} */ ({ location: new URL('http://lakes.example/sw.js'), addEventListener() {} })
  const modes = []
  const cache = { match: async () => undefined, put: async () => {}, keys: async () => [] }
  const fetchOf = async (request, options) => {
    modes.push(new Request(request, options).cache)
    return Response.json({})
  }
  new Function('self', 'location', 'caches', 'fetch', 'VERSION', source)(self, self.location, { open: async () => cache }, fetchOf, 'v')
  let answer
  const request = new Request('http://lakes.example/api/v1/bathing-lakes/status', { cache: 'no-cache' })
  self.onfetch({ request, waitUntil() {}, respondWith: (promise) => { answer = promise } })
  assert.equal((await /** @type {any} */ (answer)).status, 200)
  assert.deepEqual(modes, ['no-cache'])
})

test('the end of a statement', async () => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.parse('2026-07-01T10:00:00Z') })
  const closure = (id, end) => ({ id, name: id, chl: null, measured_at: null, advisory: { id, kind: 'closure', valid_until: end } })
  const lakes = [closure('a', '2026-07-01T12:00:00Z'), closure('b', null), closure('c', '2026-09-01T00:00:00Z'), closure('d', '2026-07-01T12:00:00Z')]
  let online = true
  const urls = fakeFetch(() => {
    if (!online) return new Response('', { status: 500 })
    return Response.json({ lakes })
  })
  const view = fakeView({ date: null })
  const store = createLakeStore(/** @type {any} */ (view), /** @type {any} */ ({ config: { total_lakes: 4 }, legend: who2003, colormaps }))
  let changes = 0
  store.on(() => changes++)
  const closed = () => store.get().lakes.filter((l) => l.closed).map((l) => l.id).join('')
  const pass = async (minutes) => {
    for (let i = 0; i < minutes; i++) mock.timers.tick(60_000)
    await flush()
    await flush()
  }
  await store.load()
  await store.load() // its timer replaces the one before
  await pass(119)
  assert.deepEqual([closed(), changes, urls.length], ['abcd', 2, 2])
  online = false
  await pass(1)
  assert.deepEqual([closed(), changes, urls.length], ['bc', 3, 2], 'without a connection')
  await pass(60)
  assert.deepEqual([closed(), changes, urls.length], ['bc', 3, 3], 'asked once')
  online = true
  view.set({ date: '2026-06-01' })
  await pass(1)
  assert.deepEqual([closed(), changes], ['abcd', 4], 'a past week is as the server says')
  await pass(1000)
  assert.deepEqual([changes, urls.length], [4, 4], 'and has no timer')
})

test('an announced change of the statements', async () => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.parse('2026-07-01T10:00:30Z') })
  Object.assign(document, { addEventListener() {} })
  /** @type {any} */
  let settings = { version: '1', changes_at: '2026-07-01T10:03:00Z' }
  const urls = fakeFetch((url) => Response.json(url === 'page.json' ? settings : { weeks: [] }))
  const config = { ...settings }
  let loads = 0
  let shown = 0
  const store = { prefetch: async () => {}, load: async () => { loads++ } }
  addRefresh(/** @type {any} */ ({ config, store, view: { get: () => ({ date: null }) } }), () => false, () => shown++)
  const pass = async (minutes) => {
    mock.timers.tick(60_000 * minutes)
    for (let i = 0; i < 5; i++) await flush()
  }
  await pass(2)
  assert.deepEqual(urls, [], 'before it')
  await pass(1)
  assert.deepEqual([urls, loads], [['page.json'], 0], 'the server has not changed yet')
  settings = { version: '2', changes_at: null }
  await pass(1)
  assert.deepEqual([urls.slice(1), loads, shown], [['page.json', 'api/v1/bathing-lakes/dates'], 1, 1])
  assert.deepEqual([config.version, config.changes_at], ['2', null])
  await pass(5)
  assert.equal(urls.length, 3, 'no further one is known')
  settings = { version: '2', changes_at: null, forecast: { version: '2-f' } }
  await pass(5)
  assert.deepEqual([loads, shown, /** @type {any} */ (config).forecast.version], [2, 2, '2-f'], 'a new forecast is shown')
})

test('failed tiles are requested again three times, then marked as missing', () => {
  const handlers = {}
  const layer = /** @type {any} */ ({ on: (names, f) => names.split(' ').forEach((name) => { handlers[name] = f }), getContainer: () => ({ querySelectorAll: () => [tile] }) })
  let requests = 0
  const classes = new Set()
  const tile = /** @type {any} */ ({
    isConnected: true,
    classList: { toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)) },
    get src() { return 'tile' },
    set src(_) { requests++ },
  })
  let changes = 0
  const { pending, retryMissing } = retryTiles(layer, () => changes++)
  handlers.tileloadstart({ tile })
  for (const delay of [2000, 4000, 6000]) {
    handlers.tileerror({ tile })
    assert.equal(pending.size, 1)
    const before = requests
    mock.timers.tick(delay - 1)
    assert.equal(requests, before)
    mock.timers.tick(1)
    assert.equal(requests, before + 1)
  }
  assert.ok(classes.has('missing'), 'late after five seconds')
  handlers.tileerror({ tile })
  assert.deepEqual([pending.size, classes.has('missing')], [0, true])
  retryMissing()
  assert.deepEqual([requests, pending.size], [4, 1])
  const before = changes
  handlers.tileload({ tile })
  assert.deepEqual([pending.size, classes.has('missing'), changes], [0, false, before + 1])
})
