// Asks the server for lakes while the user types.
import { classifyLakes } from '../classify.js'
import { fetchSearch } from '../serversearch.js'

const delay = 250 // ms without a key press before a request
const maxTries = 3
const retryDelay = 5000 // ms

/** The number of lakes that a request asks for. */
export const maxFound = 500

/**
 * Returns a function that searches for a text in the week of the loaded lakes. A new search cancels the one before.
 * `onResult` gets the lakes, or null when the server does not answer; then the search is repeated.
 * @param {Pick<Page, 'store' | 'legend'>} page @param {(lakes: Lake[] | null) => void} onResult
 */
export function createSearch({ store, legend }, onResult) {
  let timer
  let controller
  const request = async (text, triesLeft) => {
    const { signal } = controller = new AbortController()
    const { date } = store.get()
    let lakes = null
    try {
      const answer = await fetchSearch(text, maxFound, date, { signal })
      if (answer.ok) lakes = classifyLakes((await answer.json()).lakes, legend, date)
    } catch { /* no connection, or aborted */ }
    if (signal.aborted) return
    if (!lakes && triesLeft) timer = setTimeout(request, retryDelay, text, triesLeft - 1)
    onResult(lakes)
  }
  /** @param {string | false} text empty for no search */
  return (text) => {
    clearTimeout(timer)
    controller?.abort()
    if (text) timer = setTimeout(request, delay, text, maxTries - 1)
  }
}
