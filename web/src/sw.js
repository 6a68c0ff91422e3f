// The service worker: by a lake with bad reception it gives the page, what the server said last, and the tiles that were
// seen. What it gives from its stores bears X-Kept-At, the time from which it is.
/* global SHELL, ENTRY, VERSION */

const patience = 4000 // ms that an answer may take where an older one is kept
const longest = 60_000 // ms until a newer answer is given up, and its connection is free for another
const tileLongest = 20_000 // ms: a tile that does not come has to fail, so that the page can say it
const badFor = 30_000 // ms for which a network that was too slow is not waited for again
const tilesAtOnce = 16 // that may come between two looks at how many are kept

const root = new URL('./', self.location)
const prefix = `limnomap ${root.pathname} ` // stores are shared by all that one origin serves
const shell = `${prefix}shell ${VERSION}`

// What is kept besides the page: the name of its store, its paths, and how many of the newest state and of past weeks each.
const kinds = [
  ['page', /^(page\.json|api\/v1\/((tiles|legend)\.json|styles|bathing-lakes\/dates))$/, 12],
  ['lakes', /^api\/v1\/bathing-lakes\/(status|near)$/, 4],
  ['histories', /^api\/v1\/bathing-lakes\/history\/[^/]+(?<!\.csv)$/, 100],
  ['tiles', /^api\/v1\/tiles\/[\d/]+(@2x)?\.png$/, 300],
]
const stores = kinds.flatMap(([name]) => [prefix + name, `${prefix}past ${name}`])

let badUntil = 0
let tilesPut = 0

const on = (name, answer) => self.addEventListener(name, (event) => event.waitUntil(answer(event)))
on('install', install)
on('activate', activate)
on('message', keepSeen)
self.addEventListener('fetch', (event) => {
  const answer = answerTo(event)
  if (answer) event.respondWith(answer)
})

// install keeps the page whole, or fails and leaves the one before in its place.
async function install() {
  const cache = await caches.open(shell)
  await cache.addAll(SHELL)
  for (const path of ['', 'embed']) {
    const address = new URL(path, root)
    const answer = await fetch(address, { cache: 'no-cache' })
    // Of several servers one may still have another page.
    if (!whole(answer, 'text/html') || !(await answer.clone().text()).includes(ENTRY)) throw new Error(path)
    await cache.put(address, answer)
  }
  await self.skipWaiting() // the page names its files by their content: no version can mistake another's for its own
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(prefix) && name !== shell && !stores.includes(name)) await caches.delete(name)
  }
  await self.clients.claim()
}

// answerTo returns the promise of an answer, or nothing for what is none of our business.
function answerTo(event) {
  const { request } = event
  const path = below(request.url)
  if (path === null || request.method !== 'GET' || request.headers.has('Range')) return
  if (request.mode === 'navigate') {
    if (/^(embed|index\.html)?$/.test(path)) return newest(event, shell, new URL(path === 'embed' ? path : '', root))
  } else if (path.startsWith('assets/')) {
    return match(shell, request).then((kept) => kept ?? fetch(request))
  } else {
    const kind = kindOf(request.url)
    if (kind) return kind.tile ? tile(event, kind) : newest(event, kind.store, request, kind)
  }
}

// below returns the path of an address below the page's root, or null where it is not there.
function below(address) {
  const { href, pathname } = new URL(address)
  return href.startsWith(root.href) ? pathname.slice(root.pathname.length) : null
}

// kindOf returns how an address is kept, if it is. A tile without a version may be another one tomorrow.
function kindOf(address) {
  const { searchParams } = new URL(address)
  const found = kinds.find(([, paths]) => paths.test(below(address)))
  if (!found) return null
  const [name, , most] = found
  const tile = name === 'tiles'
  if (tile && !searchParams.get('v')) return null
  return { tile, most, store: `${prefix}${searchParams.has('date') ? 'past ' : ''}${name}`, type: tile ? 'image/png' : 'application/json' }
}

// newest asks for an answer and keeps it, but gives what is kept if that fails or takes too long. What has no kind is a
// document, which install alone keeps, with the files that it needs.
async function newest(event, store, key, kind) {
  const { request } = event
  const kept = await match(store, key)
  if (!kept) return fetched(event, kind, fetch(request))
  const asked = fetched(event, kind, patiently(request, longest)).then((answer) => {
    const { status, ok } = answer
    return status >= 500 || status === 429 || (kind && ok && !whole(answer, kind.type)) ? kept : answer
  }).catch(() => kept)
  event.waitUntil(asked)
  let timer
  const over = new Promise((resolve) => {
    timer = setTimeout(() => {
      badUntil = Date.now() + badFor
      resolve(kept)
    }, badUntil > Date.now() && request.cache !== 'no-store' ? 0 : patience) // who asks so wants to know if there is a network
  })
  const answer = await Promise.race([asked, over])
  clearTimeout(timer)
  return answer
}

// tile gives a tile that is kept: its address names the version, so that it can be no other.
async function tile(event, kind) {
  const { request } = event
  return await match(kind.store, request) ?? fetched(event, kind, patiently(request, tileLongest))
}

// fetched keeps what has been asked for.
async function fetched(event, kind, asked) {
  const answer = await asked
  if (event.request.url.endsWith('/page.json') && answer.ok) badUntil = 0 // the browser's own cache may have given any other
  if (kind) event.waitUntil(keep(kind, event.request, answer.clone()))
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
async function match(store, request) {
  try {
    return await (await caches.open(store)).match(request, { ignoreVary: true })
  } catch {
    return undefined
  }
}

// keep keeps an answer that is right and whole, the oldest making room. Where there is no room at all, it does not.
async function keep({ store, most, tile, type }, request, answer) {
  if (!whole(answer, type)) return
  try {
    const body = await answer.arrayBuffer()
    const text = new TextDecoder().decode(tile ? body.slice(-8) : body)
    if (!tile) JSON.parse(text)
    else if (!text.startsWith('IEND')) return // as every PNG ends
    const cache = await caches.open(store)
    await cache.put(request, marked(answer, body))
    if (tile && tilesPut++ % tilesAtOnce) return
    const keys = await cache.keys()
    const surplus = keys.length - most + (tile ? tilesAtOnce : 0)
    await Promise.all(keys.filter((_, i) => i < surplus).map((key) => cache.delete(key)))
  } catch {}
}

const patiently = (request, ms) => fetch(request, { signal: AbortSignal.timeout(ms) })

const whole = ({ status, type, redirected, headers }, wanted) => (
  status === 200 && type === 'basic' && !redirected && headers.get('Content-Type')?.startsWith(wanted)
)

function marked(answer, body) {
  const headers = new Headers(answer.headers)
  const age = Number(headers.get('Age')) // seconds, of what the server could not confirm either
  headers.delete('Content-Encoding') // the body is plain by now
  headers.delete('Content-Length')
  headers.set('X-Kept-At', new Date(Date.now() - age * 1000).toISOString())
  return new Response(body, { headers })
}
