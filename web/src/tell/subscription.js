// The subscription of this browser to notifications about the favourites. What it wants is kept in the browser too.

const key = 'limnomap-notifications'
const address = 'api/v1/push/subscriptions'
const renewAfter = 7 * 24 * 3600_000 // ms

/** What was asked for: `id` at the server, threshold, daily summary, and when it was renewed; null for no subscription. */
export const wanted = () => {
  try {
    return JSON.parse(localStorage[key] ?? 'null')
  } catch {
    return null
  }
}

const keep = (state) => {
  if (state) localStorage[key] = JSON.stringify(state)
  else delete localStorage[key]
}

/** Returns why this browser cannot be told, or an empty text: 'ios' needs the page on the home screen first. */
export function obstacle() {
  if ('PushManager' in window && 'Notification' in window && navigator.serviceWorker) return Notification.permission === 'denied' ? 'denied' : ''
  return /iP(hone|ad|od)/.test(navigator.userAgent) || (navigator.maxTouchPoints > 1 && /Mac/.test(navigator.userAgent)) ? 'ios' : 'unable'
}

/**
 * Subscribes, or changes the subscription. The page asks for permission only here, when the user has asked to be told.
 * @param {string} publicKey of the server @param {string[]} lakes @param {{threshold: string, daily: boolean}} options @param {string} language
 */
export async function subscribe(publicKey, lakes, { threshold, daily }, language) {
  const { installing, waiting, active, pushManager } = await navigator.serviceWorker.register('sw.js?push') // with the part for notifications
  // The worker before it would drop what is sent.
  const worker = installing ?? waiting ?? active
  while (worker.state !== 'activated') {
    if (worker.state === 'redundant') throw new Error('sw.js')
    await new Promise((changed) => { worker.onstatechange = changed })
  }
  const applicationServerKey = bytes(publicKey)
  let subscription = await pushManager.getSubscription()
  if (subscription && `${new Uint8Array(subscription.options.applicationServerKey ?? [])}` !== `${applicationServerKey}`) { // the server has another key now
    await subscription.unsubscribe()
    subscription = null
  }
  subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const answer = await fetch(address, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...subscription.toJSON(), lakes, threshold, daily, zone }),
  })
  if (!answer.ok) throw new Error((await answer.json()).detail)
  const { id } = await answer.json()
  keep({ id, threshold, daily, renewed: Date.now() })
  await keepLanguage(language)
}

/** Stores the language of notifications for the service worker. @param {string} language */
export async function keepLanguage(language) {
  const settings = await caches.open(`limnomap ${new URL('./', location.href).pathname} settings`)
  await settings.put('language', new Response(language))
}

/** Ends the subscription, here and at the server. */
export async function unsubscribe() {
  const state = wanted()
  if (!state) return
  const answer = await fetch(`${address}/${state.id}`, { method: 'DELETE' })
  if (!answer.ok && answer.status !== 404) throw new Error(`${answer.status}`)
  keep(null)
  const registration = await navigator.serviceWorker.ready
  await (await registration.pushManager.getSubscription())?.unsubscribe()
}

/** Reports whether the subscription is due for renewal. */
export const isDue = () => Date.now() - (wanted()?.renewed ?? Date.now()) > renewAfter

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
