// Fetching, with patience: a server that has just started answers 503 until its first snapshot is ready.
import { heard } from './offline.js'
import { words } from './words.js'

const mostTries = 20
const longestWait = 30 // seconds, whatever Retry-After asks for

/**
 * Fetches JSON. While the server answers 503, or 429 to who asked too often, it waits as long as Retry-After says and asks
 * again, a bounded number of times; of 503 it tells each time through `say`.
 */
export async function load(url, say, options) {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, options).catch((error) => {
      heard(url, null)
      throw error
    })
    heard(url, answer)
    if (answer.ok) return answer.json()
    if (![429, 503].includes(answer.status) || tries === mostTries) throw new Error(`${url}: ${answer.status}`)
    const seconds = Math.min(longestWait, Math.max(1, Number(answer.headers.get('Retry-After')) || 5))
    if (answer.status === 503) say(words.common.waiting)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}
