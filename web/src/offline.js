// Work without a connection: starts the service worker, shows that the page is offline, and checks when it is online again.
import { ageInDays } from './calendar.js'
import { byId, files } from './dom.js'
import { embedded } from './share.js'
import { count, date, fill, words, wordsFile } from './words.js'

const checkInterval = 30_000 // ms, while offline
const box = byId('offline')

let connected = navigator.onLine
let keptAt = null // when the values shown were loaded, if they come from the store
/** @type {Page | null} */
let page = null
let timer

/** Reports whether the server seems to be reachable. */
export const isConnected = () => connected

/**
 * Called for each answer, with null for a failed request. Neither an answer from the store of the service worker nor
 * navigator.onLine proves a connection; an answer of page.json does, because it is never cached.
 * @param {string} url @param {Response | null} answer
 */
export function onResponse(url, answer) {
  const kept = answer?.headers.get('X-Kept-At') ?? null
  if (/\/(status|near)(\?|$)/.test(url) && answer?.ok) keptAt = kept
  if (!answer || kept) setConnected(false)
  else if (url === 'page.json' && answer.ok) setConnected(true)
}

/** Stores the page for use without a connection, and shows how old its values are then. @param {Page} newPage */
export function addOffline(newPage) {
  page = newPage
  page.store.on(show)
  show()
  addEventListener('online', check)
  window.onoffline = () => setConnected(false)
  const map = page.map.getContainer()
  // A failed tile may be the first sign. Error events of images do not bubble, so they are captured.
  map.addEventListener('error', ({ target }) => { if (connected && /** @type {Element} */ (target).closest('.heatmap')) check() }, true)
  // After the first tile, because the service worker is not urgent. It may be denied, as in private windows or by http.
  map.addEventListener('load', () => startWorker().catch(() => {}), { capture: true, once: true })
}

async function startWorker() {
  const worker = navigator.serviceWorker
  worker.addEventListener('controllerchange', (event) => {
    // What the page requested before. Some of it may arrive later.
    new PerformanceObserver((list) => {
      worker.controller.postMessage(list.getEntries().filter((seen) => seen.startTime < event.timeStamp).map((seen) => seen.name))
    }).observe({ type: 'resource', buffered: true })
  })
  // From the second visit on the worker stores the search, which then works without a connection.
  if (worker.controller && !embedded()) for (const file of [files.find, wordsFile('find-')]) fetch(file).catch(() => {})
  await worker.register(localStorage['limnomap-notifications'] ? 'sw.js?push' : 'sw.js')
}

function setConnected(value) {
  connected = value
  clearInterval(timer)
  if (!value) timer = setInterval(check, checkInterval)
  show()
}

// check asks the server for newer data, and loads the lakes again if those shown come from the store.
async function check() {
  try {
    await page.refresh()
    if (connected && keptAt) await page.store.load()
  } catch {
    setConnected(false)
  }
}

function show() {
  const { newest } = page?.store.get() ?? {}
  box.hidden = (connected && !keptAt) || !newest
  if (box.hidden) return
  const text = words.offline
  const daysSince = (time) => ageInDays(time, Date.now())
  box.textContent = [
    navigator.onLine ? text.unreachable : text.offline,
    fill(text.values, { date: date(newest), age: count(text.age, daysSince(newest)) }),
    keptAt && daysSince(keptAt) > 0 ? fill(text.loaded, { date: date(keptAt) }) : '',
  ].join(' ')
}
