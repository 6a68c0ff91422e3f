// The service worker: by a lake with bad reception it gives the page, what the server said last, and the tiles that were
// seen. What it gives from its stores bears X-Kept-At, the time from which it is.
/* global VERSION */

const patience = 4000 // ms that an answer may take where an older one is kept
const longest = 60_000 // ms until an answer is given up, and its connection is free for another
const tileLongest = 20_000 // ms: a tile that does not come has to fail, so that the page can say it
const badFor = 30_000 // ms for which a network that was too slow is not waited for again
const tilesAtOnce = 16 // that may come between two looks at how many are kept

const root = new URL('./', self.location)
const prefix = `limnomap ${root.pathname} ` // stores are shared by all that one origin serves
const shell = `${prefix}shell ${VERSION}`

// What is kept besides the page: the name of its store, its paths, and how many of the newest state and of past weeks each.
const kinds = [
  ['page', /^(page|api\/v1\/(tiles|legend))\.json$|\/(styles|dates)$/, 12],
  ['lakes', /-lakes\/(status|near)$/, 4],
  ['histories', /\/history\/.+(?<!\.csv)$/, 100],
  ['tiles', /\/tiles\/.+png$/, 300],
]

let badUntil = 0
let tilesPut = 0

const on = (name, answer) => self.addEventListener(name, (event) => event.waitUntil(answer(event)))
on('install', install)
on('activate', activate)
on('message', keepSeen)
self.onfetch = (event) => {
  const answer = answerTo(event)
  if (answer) event.respondWith(answer)
}

// install keeps the page whole, or fails and leaves the one before in its place.
async function install() {
  const cache = await caches.open(shell)
  for (const path of ['', 'embed']) {
    const address = new URL(path, root)
    const answer = await fetch(address, { cache: 'no-cache' })
    const page = await answer.clone().text()
    // Of several servers one may still have another page.
    if (!whole(answer, 'text/html') || !page.includes(VERSION)) throw new Error(address)
    await cache.addAll(new Set(page.match(/assets\/[\w.-]+/g))) // it names all its files
    await cache.put(address, answer)
  }
  await self.skipWaiting() // the page names its files by their content: no version can mistake another's for its own
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(`${prefix}shell `) && name !== shell) await caches.delete(name)
  }
  await self.clients.claim()
}

// answerTo returns the promise of an answer, or nothing for what is none of our business.
function answerTo(event) {
  const { request } = event
  const path = below(request.url)
  if (path === null || request.method !== 'GET') return null
  if (request.mode === 'navigate') return /^(embed)?$/.test(path) && newest(event, { store: shell }, new URL(path, root))
  if (path.startsWith('assets/')) return match(shell, request).then((kept) => kept ?? fetch(request))
  const kind = kindOf(request.url)
  return kind && newest(event, kind, request)
}

// below returns the path of an address below the page's root, or null where it is not there.
function below(address) {
  const { href, pathname } = new URL(address)
  return href.startsWith(root) ? pathname.slice(root.pathname.length) : null
}

// kindOf returns how an address is kept, if it is. A tile without a version may be another one tomorrow.
function kindOf(address) {
  const { searchParams } = new URL(address)
  const [name, , most] = kinds.find(([, paths]) => paths.test(below(address))) ?? []
  const tile = name === 'tiles'
  if (!name || (tile && !searchParams.get('v'))) return null
  return { tile, most, store: `${prefix}${searchParams.has('date') ? 'past ' : ''}${name}`, type: tile ? 'image/png' : 'application/json' }
}

// newest asks for an answer and keeps it, but gives what is kept if that fails or takes too long. A tile that is kept
// can be no other, as its address names the version. What has no type is a document, which install alone keeps, with the
// files that it needs.
async function newest(event, kind, key) {
  const { tile, store, type } = kind
  const kept = await match(store, key)
  if (kept && tile) return kept
  const asked = fetched(event, kind)
  if (!kept) return asked
  const worse = (answer) => answer.status >= 500 || answer.status === 429 || (type && answer.ok && !whole(answer, type))
  const better = asked.then((answer) => (worse(answer) ? kept : answer), () => kept)
  event.waitUntil(better)
  // Who asks with no-store wants to know if there is a network.
  const ms = badUntil > Date.now() && event.request.cache !== 'no-store' ? 0 : patience
  const answer = await Promise.race([better, new Promise((resolve) => setTimeout(resolve, ms))])
  if (!answer) badUntil = Date.now() + badFor
  return answer ?? kept
}

// fetched asks the network, and keeps what it gives.
async function fetched(event, kind) {
  const { request } = event
  const answer = await fetch(request, { signal: AbortSignal.timeout(kind.tile ? tileLongest : longest) })
  if (request.url.endsWith('/page.json') && answer.ok) badUntil = 0 // the browser's own cache may have given any other
  if (kind.type) event.waitUntil(keep(kind, request, answer.clone()))
  return answer
}

// keepSeen keeps what a page had loaded before there was a service worker; the browser still has it.
async function keepSeen({ data }) {
  for (const address of data) {
    const kind = kindOf(address)
    if (!kind || await match(kind.store, address)) continue
    await fetch(address, { cache: 'force-cache' }).then((answer) => keep(kind, address, answer)).catch(() => {})
  }
}

// match returns what is kept. Where the store is denied that is nothing.
const match = (store, request) => (
  caches.open(store).then((cache) => cache.match(request, { ignoreVary: true })).catch(() => {})
)

// keep keeps an answer that is right and whole, the oldest making room. Where there is no room at all, it does not.
async function keep({ store, most, tile, type }, request, answer) {
  if (!whole(answer, type)) return
  try {
    const text = await answer.clone().text()
    if (!tile) JSON.parse(text)
    else if (!/IEND.{4}$/.test(text)) return // as every PNG ends
    const cache = await caches.open(store)
    await cache.put(request, marked(answer))
    if (tile && tilesPut++ % tilesAtOnce) return
    const keys = await cache.keys()
    await Promise.all(keys.slice(0, Math.max(0, keys.length - most + (tile ? tilesAtOnce : 0))).map((key) => cache.delete(key)))
  } catch {}
}

// What is asked for is of this origin, and so is what comes unless another address gave it.
const whole = ({ status, redirected, headers }, wanted) => (
  status === 200 && !redirected && headers.get('Content-Type')?.startsWith(wanted)
)

function marked({ headers: given, body }) {
  const headers = new Headers(given)
  const age = Number(headers.get('Age')) // seconds, of what the server could not confirm either
  headers.set('X-Kept-At', new Date(Date.now() - age * 1000).toISOString())
  return new Response(body, { headers })
}
