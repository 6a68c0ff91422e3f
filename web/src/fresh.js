// New data that come while the page is open.
import { load } from './load.js'

const every = 600_000 // ms

/**
 * Asks every ten minutes, and when somebody looks at the page again, whether the server has newer data, and shows them,
 * but not while the weeks play. `shown` is called then.
 */
export function watchFresh(page, shown) {
  // Asked for anew, since the browser may use its older copies for a minute more.
  const anew = (url) => load(url, () => {}, { cache: 'no-cache' })
  const look = async () => {
    const { config, status } = page
    if (document.hidden || page.playing() || !navigator.onLine) return
    const { version } = await anew('page.json')
    if (!version || version === config.version) return
    const { weeks } = await anew('api/v1/bathing-lakes/dates')
    await status.ahead(page.view.get().date, 'no-cache')
    config.version = version
    try {
      await status.load()
    } catch {
      config.version = '' // the next time may do better
      return
    }
    page.weeks = weeks
    shown()
  }
  const quietly = () => look().catch(() => {})
  setInterval(quietly, every)
  document.addEventListener('visibilitychange', quietly)
}
