// Loads new data while the page is open.
import { fetchJSON } from './fetchjson.js'

const interval = 600_000 // ms

/**
 * Sets page.refresh, which asks the server for newer data and shows them, except while the weeks play. It runs every ten
 * minutes and when the page becomes visible. `onRefresh` is called when there were new data. It fails without an answer.
 * @param {Page} page @param {() => boolean} isPlaying @param {() => void} onRefresh
 */
export function addRefresh(page, isPlaying, onRefresh) {
  const { config, store, view } = page
  // Not from the browser's cache, which may be a minute behind.
  const load = (url, /** @type {RequestCache} */ cache = 'no-cache') => fetchJSON(url, { cache }, () => {})
  const refresh = async () => {
    const now = await load('page.json', 'no-store')
    if (!now.version || now.version === config.version || isPlaying()) return
    if (now.notice !== config.notice || now.simulated !== config.simulated) return location.reload() // the notices must change too
    const { weeks } = await load('api/v1/bathing-lakes/dates')
    await store.prefetch(view.get().date, 'no-cache')
    const { version } = config
    config.version = now.version
    await store.load().catch((error) => {
      config.version = version // the next refresh tries again
      throw error
    })
    page.weeks = weeks
    onRefresh()
  }
  let running = null
  page.refresh = () => (running ??= refresh().finally(() => { running = null }))
  const refreshVisible = () => { if (!document.hidden) page.refresh().catch(() => {}) }
  setInterval(refreshVisible, interval)
  document.addEventListener('visibilitychange', refreshVisible)
}
