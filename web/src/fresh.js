// New data that come while the page is open.
import { load } from './load.js'

const every = 600_000 // ms

/**
 * Gives page.look, which asks whether the server has newer data and shows them, but not while the weeks play; `shown` is
 * called then. It is asked every ten minutes, and when somebody looks at the page again. Fails where no answer comes.
 */
export function watchFresh(page, playing, shown) {
  const { config, status, view } = page
  // Asked for anew, since the browser may use its older copies for a minute more.
  const anew = (url, cache = 'no-cache') => load(url, () => {}, { cache })
  const look = async () => {
    const now = await anew('page.json', 'no-store')
    if (!now.version || now.version === config.version || playing()) return
    if (now.notice !== config.notice || now.simulated !== config.simulated) return location.reload() // what the page says at all times
    const { weeks } = await anew('api/v1/bathing-lakes/dates')
    await status.ahead(view.get().date, 'no-cache')
    const { version } = config
    config.version = now.version
    await status.load().catch((error) => {
      config.version = version // the next time may do better
      throw error
    })
    page.weeks = weeks
    shown()
  }
  let looking = null
  page.look = () => (looking ??= look().finally(() => { looking = null }))
  const quietly = () => { if (!document.hidden) page.look().catch(() => {}) }
  setInterval(quietly, every)
  document.addEventListener('visibilitychange', quietly)
}
