// Without a connection: the service worker, what the page says then, and how it finds out that there is one again.
import { daysOld } from './age.js'
import { count, date, fill, words } from './words.js'

const between = 30_000 // ms between two looks for a connection that is lost
const box = document.getElementById('offline')

let connected = navigator.onLine
let keptAt = null // when the values shown were loaded, where they come from the store
let page = null
let timer

/**
 * Hears of each answer that the page loads, or of none where that failed. What comes from the store of the service worker
 * is no sign of a connection, and neither is navigator.onLine; an answer of page.json is one, as no cache may give it.
 */
export function heard(url, answer) {
  const kept = answer?.headers.get('X-Kept-At') ?? null
  if (/\/(status|near)(\?|$)/.test(url) && answer?.ok) keptAt = kept
  if (!answer || kept) set(false)
  else if (url === 'page.json' && answer.ok) set(true)
}

/** Keeps the page for when there is no connection, and tells how old its values are then. */
export function addOffline(all) {
  page = all
  page.status.on(show)
  show()
  window.addEventListener('online', check)
  window.onoffline = () => set(false)
  const map = page.map.getContainer()
  // A tile that fails may be the first sign. Errors of pictures do not bubble.
  map.addEventListener('error', ({ target }) => { if (connected && target.closest('.heat')) check() }, true)
  // What is for later waits for the first tile. Where it is denied, as in private windows, or by http, the page does without.
  map.addEventListener('load', () => startWorker().catch(() => {}), { capture: true, once: true })
}

async function startWorker() {
  const worker = navigator.serviceWorker
  worker.addEventListener('controllerchange', () => {
    worker.controller.postMessage(performance.getEntriesByType('resource').map(({ name }) => name))
  }, { once: true })
  await worker.register('sw.js')
}

function set(now) {
  connected = now
  clearInterval(timer)
  if (!now) timer = setInterval(check, between)
  show()
}

// check asks the server for a sign of life, and for the values where those shown are not its latest.
async function check() {
  try {
    await page.look()
    if (connected && keptAt) await page.status.load()
  } catch {
    set(false)
  }
}

function show() {
  const { newest } = page?.status.get() ?? {}
  box.hidden = (connected && !keptAt) || !newest
  if (box.hidden) return
  const { unreachable, offline, values, age, loaded } = words.offline
  const daysSince = (time) => daysOld(time, Date.now())
  box.textContent = [
    navigator.onLine ? unreachable : offline,
    fill(values, { date: date(newest), age: count(age, daysSince(newest)) }),
    keptAt && daysSince(keptAt) > 0 ? fill(loaded, { date: date(keptAt) }) : '',
  ].join(' ')
}
