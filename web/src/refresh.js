// Loads new data while the page is open.
import { fetchJSON } from './fetchjson.js'

const interval = 600_000 // ms
const changeInterval = 60_000 // ms between looks at the clock for a change that the server announced; a longer timer would stop while the device sleeps
const afterChange = 5000 // ms by which the server's clock has passed it

/**
 * Sets page.refresh, which asks the server for newer data and shows them, except while the weeks play. It runs every ten
 * minutes, when the page becomes visible, and within a minute after an official statement has begun or ended. `onRefresh` is called when there were new data. It fails without an answer.
 * @param {Page} page @param {() => boolean} isPlaying @param {() => void} onRefresh
 */
export function addRefresh(page, isPlaying, onRefresh) {
  const { config, store, view } = page
  // Not from the browser's cache, which may be a minute behind.
  const load = (url, /** @type {RequestCache} */ cache = 'no-cache') => fetchJSON(url, { cache }, () => {})
  const refresh = async () => {
    const now = await load('page.json', 'no-store')
    if (!now.version || isPlaying()) return
    if (now.version === config.version && now.forecast?.version === config.forecast?.version) {
      Object.assign(config, now)
      return
    }
    if (now.notice !== config.notice || now.simulated !== config.simulated || now.as_of !== config.as_of) return location.reload() // the notices must change too
    const { weeks } = await load('api/v1/bathing-lakes/dates')
    await store.prefetch(view.get().date, 'no-cache')
    const before = { ...config }
    Object.assign(config, now) // the attribution may change with the data
    await store.load().catch((error) => {
      Object.assign(config, before) // the next refresh tries again
      throw error
    })
    page.weeks = weeks
    onRefresh()
  }
  let running = null
  page.refresh = () => (running ??= refresh().finally(() => { running = null }))
  const refreshVisible = () => { if (!document.hidden) page.refresh().catch(() => {}) }
  setInterval(refreshVisible, interval)
  // Each page looks at a time of its own, so that not all of them ask at once.
  setInterval(() => { if (Date.now() >= Date.parse(config.changes_at) + afterChange) refreshVisible() }, changeInterval)
  document.addEventListener('visibilitychange', refreshVisible)
}
