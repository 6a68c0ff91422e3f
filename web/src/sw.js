// The service worker: without a good connection it serves the page, the last answers of the API, and the tiles seen before.
// Answers from its stores have the header X-Kept-At, the time of their origin.

if (location.search) importScripts(PUSH) // only where the page has subscribed to notifications

const patience = 4000 // ms to wait for the network if there is a stored answer
const timeout = 60_000 // ms after which a request is cancelled, so that its connection is free
const tileTimeout = 20_000 // ms: a late tile must fail, so that the page can say so
const slowFor = 30_000 // ms for which a slow network is not waited for again
const trimEvery = 16 // stored tiles

const root = new URL('./', self.location.href)
const prefix = `limnomap ${root.pathname} ` // all sites of an origin share the stores
const shell = `${prefix}shell ${VERSION}`

const later = /^assets.*(card|share|cast|tell|find|places|towns|compare|export|known|beside|years)-/ // scripts that load later, and their texts

// The stores besides the page: name, paths, and the maximum number of answers, for the newest state and for past weeks each.
/** @type {[string, RegExp, number][]} */
const stores = [
  ['page', /^(page|api\/v1\/(tiles|legend))\.json$|\/(styles|dates)$|s\/words/, 40],
  ['lakes', /-lakes\/status$/, 4],
  ['near', /-lakes\/near$/, 20], // the lakes of a large server, and those around a lake with a high risk
  ['histories', /\/history\/.+(?<!\.csv)$|-lakes\/advisories$/, 100],
  ['tiles', /\/tiles\/.+png$/, 300],
  ['places', /(^|\/)(places|towns|nearrivers)(-.+)?\.json$/, 4], // of the page or of the server, and the names and small rivers on the map
  ['cards', later, 12], // scripts; their texts are with the page
  ['shore', /^lakes\/[^/]+$|^lake\.(css|js)$/, 50], // the pages of lakes
]

let slowUntil = 0
let tilesStored = 0

const on = (name, f) => self.addEventListener(name, (event) => event.waitUntil(f(event)))
on('install', install)
on('activate', activate)
on('message', storeSeen)
self.onfetch = (event) => {
  const answer = answerTo(event)
  if (answer) event.respondWith(answer)
}

// install stores the whole page, or fails; then the previous version stays. The first visit leaves out the scripts that load later
// and their texts, which are stored when they are used, and the page for iframes, unless it is the one that is open.
// The places and rivers, which are large, are stored only when they are used.
async function install() {
  const embedded = (await clients.matchAll({ includeUncontrolled: true })).some(({ url }) => pathBelowRoot(url)?.startsWith('embed'))
  await storePages(self.registration.active || embedded ? ['', 'embed'] : [''])
  await self.skipWaiting() // safe, because the names of files contain their hashes
}

async function storePages(paths) {
  const cache = await caches.open(shell)
  for (const path of paths) {
    const address = new URL(path, root)
    const answer = await fetch(address, { cache: 'no-cache' })
    const page = await answer.clone().text()
    // With several servers, one of them may still serve another version.
    if (!isComplete(answer, 'text/html') || !page.includes(VERSION)) throw Error(address)
    const files = page.match(/assets\/[\w.-]+/g) // the page names all its files, those of words for all languages at once
    await cache.addAll([...new Set(files)].filter((file) => !/LANG|(places|towns|rivers)-/.test(file) && (self.registration.active || !later.test(file))))
    await addWords(files.find((file) => /LANG/.test(file)))
    await cache.put(address, answer)
  }
}

// addWords stores the words of this version that were used of others: those of one or two languages.
async function addWords(file) {
  const cache = await caches.open(`${prefix}page`)
  const used = (await cache.keys()).map(({ url }) => url.match(/s\/words-(.+)-/)?.[1]).filter(Boolean)
  await cache.addAll([...new Set(used)].map((name) => file.replace('LANG', name)))
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(`${prefix}shell `) && name !== shell) await caches.delete(name)
  }
  await self.clients.claim()
}

// answerTo returns the promise of an answer, or nothing for requests that the browser handles itself.
function answerTo(event) {
  const { request } = event
  const path = pathBelowRoot(request.url)
  if (path === null || request.method !== 'GET') return null
  if (request.mode === 'navigate') {
    if (path === 'embed') event.waitUntil(storeEmbed())
    if (/^(embed)?$/.test(path)) return networkFirst(event, { store: shell }, new URL(path, root))
    if (!/^lakes\/[^/]+$/.test(path)) return null
  }
  const kind = kindOf(request.url)
  const load = () => (kind ? networkFirst(event, kind, request) : fetch(request))
  if (path.startsWith('assets/')) return match(shell, request).then((stored) => stored ?? load())
  return kind && load()
}

// storeEmbed stores the page for iframes when it is first opened.
async function storeEmbed() {
  if (!await match(shell, new URL('embed', root))) await storePages(['embed']).catch(() => {})
}

// pathBelowRoot returns the path of a URL relative to the page, or null for other URLs.
function pathBelowRoot(url) {
  const { href, pathname } = new URL(url)
  return href.startsWith(root.href) ? pathname.slice(root.pathname.length) : null
}

// isFile reports whether a URL is that of a file of the page, whose name contains a hash of its content.
const isFile = (url) => url.startsWith(`${root.href}assets/`)

// kindOf returns how the answer of a URL is stored, or nothing.
function kindOf(url) {
  const [name, , max] = stores.find(([, paths]) => paths.test(pathBelowRoot(url))) ?? []
  const tile = name === 'tiles'
  return name && { tile, max, store: `${prefix}${/[?&]date=/.test(url) ? 'past ' : ''}${name}`, type: tile ? 'image' : name === 'cards' ? 'text/java' : name === 'shore' ? 'text/' : 'application/json' }
}

// networkFirst asks the network and stores its answer, but returns the stored answer if the network fails, or, except for the pages of lakes, is slow. A stored
// tile or file is returned at once, because its URL names the version. Documents have no type: only install stores them.
async function networkFirst(event, kind, key) {
  const { tile, store, type } = kind
  const stored = await match(store, key)
  if (stored && (tile || isFile(event.request.url))) return stored
  const fresh = fetchAndStore(event, kind)
  if (!stored) return fresh
  const isWorse = (answer) => answer.status >= 500 || answer.status === 429 || (type && answer.ok && !isComplete(answer, type))
  const better = fresh.then((answer) => (isWorse(answer) ? stored : answer), () => stored)
  event.waitUntil(better)
  if (type === 'text/') return better // a closure may have come since a page of a lake was kept
  // A request with no-store checks the connection, so it waits.
  const ms = slowUntil > Date.now() && event.request.cache !== 'no-store' ? 0 : patience
  const answer = await Promise.race([better, new Promise((resolve) => setTimeout(resolve, ms))])
  if (!answer) slowUntil = Date.now() + slowFor
  return answer ?? stored
}

async function fetchAndStore(event, kind) {
  const { request } = event
  const answer = await fetch(request, { signal: AbortSignal.timeout(kind.tile ? tileTimeout : timeout) })
  if (request.url.endsWith('/page.json') && answer.ok) slowUntil = 0 // other answers may come from the browser's cache
  if (kind.type) event.waitUntil(put(kind, request, answer.clone()))
  return answer
}

// storeSeen stores what the page loaded before the service worker started. The browser still has it in its cache.
async function storeSeen({ data }) {
  for (const url of data) {
    const kind = kindOf(url)
    if (!kind || await match(kind.store, url)) continue
    await fetch(url, { cache: 'force-cache' }).then((answer) => put(kind, url, answer)).catch(() => {})
  }
}

// match returns a stored answer, or nothing if there is none or the stores are denied.
const match = (store, request) => (
  caches.open(store).then((cache) => cache.match(request, { ignoreVary: true })).catch(() => {})
)

// put stores a complete answer and removes the oldest ones. It does nothing if there is no space. A tile is stored only if its URL names
// it for ever: while an official statement has begun or ended since the version of the page, the server answers with another one.
async function put({ store, max, tile, type }, request, answer) {
  if (!isComplete(answer, type) || (tile && !/immutable/.test(answer.headers.get('Cache-Control')))) return
  try {
    const text = await answer.clone().text()
    if (tile && !/IEND.{4}$/.test(text)) return // the last chunk of every PNG
    if (type.endsWith('json')) JSON.parse(text)
    if (type === 'text/' && !answer.headers.has('X-Request-Id')) return // of another page, such as one to sign in
    const cache = await caches.open(store)
    // A file does not age. The page of a lake says that it was kept.
    await cache.put(request, isFile(answer.url) ? answer : withTime(answer, type === 'text/' ? text.replace(' role="note" hidden', ' role="note"') : answer.body))
    if (tile && tilesStored++ % trimEvery) return
    const keys = await cache.keys()
    await Promise.all(keys.slice(0, Math.max(0, keys.length - max + (tile ? trimEvery : 0))).map((key) => cache.delete(key)))
  } catch { /* stored next time */ }
}

// isComplete reports whether an answer is a 200 of the wanted type that was not redirected, for example to a sign-in page.
const isComplete = ({ status, redirected, headers }, type) => (
  status === 200 && !redirected && headers.get('Content-Type')?.startsWith(type)
)

function withTime({ headers: original }, body) {
  const headers = new Headers(original)
  const age = Number(headers.get('Age')) // seconds since the server could last confirm the answer
  headers.set('X-Kept-At', new Date(Date.now() - age * 1000).toISOString())
  return new Response(body, { headers })
}
