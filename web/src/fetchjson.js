// Loads JSON from the server. A server that has just started answers 503 until its first snapshot is ready.
import { showMessage } from './message.js'
import { onResponse } from './offline.js'
import { words } from './words.js'

const maxTries = 20
const maxDelay = 30 // seconds

/**
 * Loads JSON. After 429 or 503 it waits for the time in Retry-After and tries again, up to a maximum; `say` gets a message for
 * each 503.
 * @param {string} url @param {RequestInit} [options] @param {(text: string) => void} [say]
 */
export async function fetchJSON(url, options, say = showMessage) {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, options).catch((error) => {
      onResponse(url, null)
      throw error
    })
    onResponse(url, answer)
    if (answer.ok) return answer.json()
    if (![429, 503].includes(answer.status) || tries === maxTries) throw new Error(`${url}: ${answer.status}`)
    if (answer.status === 503) say(words.common.waiting)
    await new Promise((resolve) => setTimeout(resolve, retryDelay(answer.headers.get('Retry-After')) * 1000))
  }
}

/** Returns the seconds to wait for a Retry-After header, within bounds. @param {string | null} header */
export const retryDelay = (header) => Math.min(maxDelay, Math.max(1, Number(header) || 5))
