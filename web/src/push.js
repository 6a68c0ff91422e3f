// The part of the service worker that shows notifications, and opens the lake when one is tapped.
import cs from './push/words/cs.json'
import da from './push/words/da.json'
import de from './push/words/de.json'
import en from './push/words/en.json'
import fr from './push/words/fr.json'
import nl from './push/words/nl.json'
import pl from './push/words/pl.json'
import { notificationText } from './pushtext.js'
import { verdict as csVerdict } from './words/cs.json'
import { verdict as daVerdict } from './words/da.json'
import { verdict as deVerdict } from './words/de.json'
import { verdict as enVerdict } from './words/en.json'
import { verdict as frVerdict } from './words/fr.json'
import { verdict as nlVerdict } from './words/nl.json'
import { verdict as plVerdict } from './words/pl.json'

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {any} */ (self))
const words = { cs, da, de, en, fr, nl, pl }
const verdicts = { cs: csVerdict, da: daVerdict, de: deVerdict, en: enVerdict, fr: frVerdict, nl: nlVerdict, pl: plVerdict }
const root = new URL('./', worker.location.href)

const on = (name, f) => worker.addEventListener(name, (/** @type {any} */ event) => event.waitUntil(f(event)))

// The page stores the reader's language there: a service worker knows that of the browser only.
async function language() {
  const stored = await caches.open(`limnomap ${root.pathname} settings`).then((cache) => cache.match('language')).catch(() => null)
  return [await stored?.text(), ...navigator.languages].map((name) => name?.split('-')[0]).find((name) => name in words) ?? 'en'
}

on('push', async ({ data }) => {
  const lang = await language()
  const { title, lake, ...options } = notificationText(data.json(), lang, { ...words[lang], verdict: verdicts[lang] }, new Date().getHours())
  await worker.registration.showNotification(title, { ...options, lang, icon: ICON, badge: BADGE, data: lake })
})

on('notificationclick', async ({ notification }) => {
  notification.close()
  const address = new URL(notification.data ? `#lake=${encodeURIComponent(notification.data)}` : '', root).href
  const pages = await worker.clients.matchAll({ type: 'window' })
  const page = pages.find(({ url }) => new URL(url).pathname === root.pathname)
  if (!page) return worker.clients.openWindow(address)
  await page.focus().catch(() => {}) // denied after some seconds
  await page.navigate(address) // the page has no listener yet if nobody has touched it; a change of the fragment loads nothing
})
