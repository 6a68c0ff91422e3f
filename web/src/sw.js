// The service worker: by a lake with bad reception it gives the page, what the server said last, and the tiles that were
// seen. What it gives from its store bears X-Kept-At, the time from which it is.
/* global SHELL, ENTRY, VERSION */

const patience = 4000 // ms that an answer may take where an older one is kept
const longest = 60_000 // ms until a newer answer is given up, and its connection is free for another
const tileLongest = 20_000 // ms: a tile that does not come has to fail, so that the page can say it
const badFor = 30_000 // ms for which a network that was too slow is not waited for again
const tilesAtOnce = 16 // that may come between two looks at how many are kept

const root = new URL('./', self.location)
const prefix = `limnomap ${root.pathname} ` // stores are shared by all that one origin serves
const shell = `${prefix}shell ${VERSION}`

// What is kept besides the page, and how much of it: of the newest state and of past weeks each.
const kinds = [
  { name: 'page', path: /^(page\.json|api\/v1\/((tiles|legend)\.json|styles|bathing-lakes\/dates))$/, most: 12 },
  { name: 'lakes', path: /^api\/v1\/bathing-lakes\/(status|near)$/, most: 4 },
  { name: 'histories', path: /^api\/v1\/bathing-lakes\/history\/[^/]+(?<!\.csv)$/, most: 100 },
  { name: 'tiles', path: /^api\/v1\/tiles\/[\d/]+(@2x)?\.png$/, most: 300 },
]
const isTile = ({ name }) => name === 'tiles'
const typeOf = (kind) => (isTile(kind) ? 'image/png' : 'application/json')
const stores = kinds.flatMap(({ name }) => [prefix + name, `${prefix}past ${name}`])
const documents = { '': '', 'index.html': '', embed: 'embed' }

let badUntil = 0
let tilesPut = 0
const late = new Set() // addresses whose answer came after the page had been given an older one

self.addEventListener('install', (event) => event.waitUntil(install()))
self.addEventListener('activate', (event) => event.waitUntil(activate()))
self.addEventListener('message', (event) => event.waitUntil(keepSeen(event.data.seen ?? [])))
self.addEventListener('fetch', (event) => {
  const answer = answerTo(event)
  if (answer) event.respondWith(answer)
})

// install keeps the page whole, or fails and leaves the one before in its place.
async function install() {
  const cache = await caches.open(shell)
  await cache.addAll(SHELL)
  for (const path of ['', 'embed']) {
    const answer = await fetch(new URL(path, root), { cache: 'no-cache' })
    // Of several servers one may still have another page.
    if (!whole(answer, 'text/html') || !(await answer.clone().text()).includes(ENTRY)) throw new Error(path)
    await cache.put(new URL(path, root), answer)
  }
  await self.skipWaiting() // the page names its files by their content: no version can mistake another's for its own
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(prefix) && name !== shell && !stores.includes(name)) await caches.delete(name)
  }
  await self.clients.claim()
}

// answerTo returns the promise of an answer, or null for what is none of our business.
function answerTo(event) {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || request.headers.has('Range') || !url.href.startsWith(root.href)) return null
  const path = url.pathname.slice(root.pathname.length)
  if (request.mode === 'navigate') return path in documents ? page(event, new URL(documents[path], root)) : null
  if (path.startsWith('assets/')) return match(shell, request).then((kept) => kept ?? fetch(request))
  const kind = kindOf(url)
  if (!kind) return null
  return isTile(kind) ? tile(event, kind) : data(event, kind)
}

// kindOf returns what is kept of an address, and where. A tile without a version may be another one tomorrow.
function kindOf(url) {
  const kind = kinds.find(({ path }) => path.test(url.pathname.slice(root.pathname.length)))
  if (!kind || (isTile(kind) && !url.searchParams.get('v'))) return null
  return { ...kind, store: `${prefix}${url.searchParams.has('date') ? 'past ' : ''}${kind.name}` }
}

// page asks for a document, so that a new one is seen at once; it is kept with the files that it needs, by install.
async function page({ request }, address) {
  const kept = await match(shell, address)
  if (!kept) return fetch(request)
  const asked = patiently(request, longest).then((answer) => (refused(answer) ? kept : answer))
  return inTime(asked, kept)
}

// data asks for an answer, and keeps it.
async function data(event, kind) {
  const { request, clientId } = event
  const kept = await match(kind.store, request)
  if (kept && late.delete(request.url)) return unmarked(kept)
  let gaveKept = false
  const asked = (kept ? patiently(request, longest) : fetch(request)).then((answer) => {
    if (kept && (refused(answer) || (answer.ok && !whole(answer, typeOf(kind))))) throw new Error(`status ${answer.status}`)
    if (request.url.endsWith('/page.json')) badUntil = 0 // the browser's own cache may have given any other
    const stored = keep(kind, request, answer.clone())
    event.waitUntil(stored.then((done) => done && gaveKept && tell(clientId, request.url)))
    return answer
  })
  if (!kept) return asked
  const answer = await inTime(asked, kept)
  gaveKept = answer === kept
  event.waitUntil(asked.catch(() => {}))
  return answer
}

// inTime gives what was asked for, or what is kept if that fails or takes too long.
async function inTime(asked, kept) {
  let timer
  const limit = badUntil > Date.now() ? 0 : patience
  const over = new Promise((resolve) => {
    timer = setTimeout(() => {
      badUntil = Date.now() + badFor
      resolve(kept)
    }, limit)
  })
  const answer = await Promise.race([asked.catch(() => kept), over])
  clearTimeout(timer)
  return answer
}

// tile gives a tile that is kept: its address names the version, so that it can be no other.
async function tile(event, kind) {
  const { request } = event
  const kept = await match(kind.store, request)
  if (kept) return kept
  const answer = await patiently(request, tileLongest)
  event.waitUntil(keep(kind, request, answer.clone()))
  return answer
}

async function tell(clientId, url) {
  late.add(url)
  const client = await self.clients.get(clientId)
  client?.postMessage({ fresh: url })
}

// keepSeen keeps what a page had loaded before there was a service worker; most of it the browser still has.
async function keepSeen(seen) {
  for (const address of seen.slice(0, 300)) {
    const url = new URL(address, root)
    const kind = url.href.startsWith(root.href) && kindOf(url)
    if (!kind || await match(kind.store, url)) continue
    await fetch(url, { cache: 'force-cache' }).then((answer) => keep(kind, new Request(url), answer)).catch(() => {})
  }
}

// match returns what is kept. Where the store is denied that is nothing.
async function match(store, request) {
  try {
    return await (await caches.open(store)).match(request, { ignoreVary: true })
  } catch {
    return undefined
  }
}

// keep keeps an answer that is right and whole, the oldest making room, and reports whether it did.
async function keep(kind, request, answer) {
  if (!whole(answer, typeOf(kind))) return false
  try {
    const body = await answer.arrayBuffer()
    if (!isTile(kind)) JSON.parse(new TextDecoder().decode(body))
    else if (!new TextDecoder().decode(body.slice(-8)).startsWith('IEND')) return false // the end of every PNG
    const cache = await caches.open(kind.store)
    await cache.put(request, marked(answer, body))
    if (!isTile(kind)) await trim(cache, kind.most)
    else if (tilesPut++ % tilesAtOnce === 0) await trim(cache, kind.most - tilesAtOnce)
    return true
  } catch (error) {
    if (error.name === 'QuotaExceededError') for (const name of stores) if (name.endsWith('tiles')) await caches.delete(name)
    return false
  }
}

async function trim(cache, most) {
  const keys = await cache.keys()
  await Promise.all(keys.slice(0, Math.max(0, keys.length - most)).map((key) => cache.delete(key)))
}

const patiently = (request, ms) => fetch(request, { signal: AbortSignal.timeout(ms) })

const whole = (answer, type) => (
  answer.status === 200 && answer.type === 'basic' && !answer.redirected && (answer.headers.get('Content-Type') ?? '').startsWith(type)
)

const refused = ({ status }) => status >= 500 || status === 429

function marked(answer, body) {
  const headers = new Headers(answer.headers)
  const age = Number(headers.get('Age')) || 0 // seconds, of what the server could not confirm either
  headers.delete('Content-Encoding') // the body is plain by now
  headers.delete('Content-Length')
  headers.set('X-Kept-At', new Date(Date.now() - age * 1000).toISOString())
  return new Response(body, { headers })
}

function unmarked(kept) {
  const headers = new Headers(kept.headers)
  headers.delete('X-Kept-At')
  return new Response(kept.body, { headers })
}
