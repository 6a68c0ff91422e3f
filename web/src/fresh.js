// New data that come while the page is open.
const every = 600_000 // ms

/**
 * Asks every ten minutes, and when somebody looks at the page again, whether the server has newer data, and shows them:
 * all at once, and not while the weeks play. `shown` is called then.
 */
export function watchFresh(page, shown) {
  const look = async () => {
    if (document.hidden || page.playing() || !navigator.onLine) return
    const config = await fresh('page.json')
    if (!config?.version || config.version === page.config.version) return
    // Asked for anew, since the browser may use its older copies for a minute more.
    const date = page.view.get().date
    const [dates] = await Promise.all([fresh('api/v1/bathing-lakes/dates'), page.status.ahead(date, 'no-cache')])
    if (!dates || page.playing() || page.view.get().date !== date) return
    const { version } = page.config
    Object.assign(page.config, config)
    await page.status.load().catch((error) => {
      page.config.version = version
      throw error
    })
    page.weeks = dates.weeks
    shown()
  }
  const quietly = () => look().catch(console.warn) // the next time may do better
  setInterval(quietly, every)
  document.addEventListener('visibilitychange', quietly)
}

async function fresh(url) {
  const answer = await fetch(url, { cache: 'no-cache' })
  return answer.ok ? answer.json() : null
}
