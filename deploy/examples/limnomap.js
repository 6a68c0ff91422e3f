// Shared by the three maps: the server's address, retries while the server is overloaded, and a message about missing parts.

/**
 * The server's address, without a slash at the end. For your own page write your server's address here and remove `?server=`:
 * otherwise any link to the page can choose the server.
 */
export const server = (new URLSearchParams(location.search).get('server') ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')

/** The scale of tiles for this screen: 2 if its resolution is high. */
export const ratio = devicePixelRatio > 1 ? 2 : 1

const mostTries = 4
const longestWait = 30 // seconds, even if Retry-After asks for more
const requestTimeout = 30_000 // ms

const missing = new Map() // address of a failed request -> reason
let retryAll = () => location.reload()

/** Sets the function that requests all missing parts again, when the reader wants it or the network is back. */
export const onRetry = (retry) => { retryAll = retry }

/**
 * Fetches an address and returns the answer as 'json', 'blob' or 'arrayBuffer'. While the server sheds load (503), limits this
 * address (429) or is down, it tries up to four times and waits as long as Retry-After says. The page then shows what is
 * missing, because a hole in the map must not look like clear water.
 */
export async function request(url, form, signal) {
  for (let tries = 1; ; tries++) {
    const { content, reason, wait } = await requestOnce(url, form, signal)
    if (signal?.aborted) throw setMissing(url, undefined, signal.reason)
    if (content !== undefined) {
      setMissing(url)
      return content
    }
    if (!wait || tries === mostTries) throw setMissing(url, reason, new Error(reason))
    // Spread the retries: a limit that admits one tile would refuse the others.
    const seconds = Math.min(longestWait, wait(tries)) * (1 + Math.random() / 2)
    await new Promise((resolve) => { setTimeout(resolve, 1000 * seconds) })
  }
}

async function requestOnce(url, form, signal) {
  const timeout = AbortSignal.timeout(requestTimeout)
  try {
    const answer = await fetch(url, { signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
    if (answer.ok) return { content: await answer[form]() }
    const after = Number(answer.headers.get('Retry-After'))
    const temporary = [429, 502, 503, 504].includes(answer.status)
    return { reason: `the server answered ${answer.status}`, wait: temporary && ((tries) => after || 2 ** tries) }
  } catch {
    return { reason: 'the server does not answer', wait: (tries) => 2 ** tries }
  }
}

// setMissing records why something is missing, or that it no longer is, and returns the error.
function setMissing(url, reason, error) {
  if (reason) missing.set(url, reason)
  else if (!missing.delete(url)) return error
  const [first] = missing.values()
  showMessage(first && `${missing.size === 1 ? 'A part' : `${missing.size} parts`} of the map cannot be shown: ${first}. This says nothing about the lakes there.`)
  return error
}

/** Shows a message on the page, or hides it. */
export function showMessage(text) {
  const trouble = document.querySelector('#trouble')
  trouble.hidden = !text
  trouble.querySelector('span').textContent = text ?? ''
}

/** Returns a TileJSON: attribution, bounds, largest zoom, and the snapshot of the data. */
export const tileJSON = (path) => request(`${server}/api/v1/${path}`, 'json')

/** Escapes a text for map libraries that take an attribution as HTML. */
export const escapeHTML = (text = '') => Object.assign(document.createElement('span'), { textContent: text }).innerHTML

function retryMissing() {
  if (missing.size === 0) return
  missing.clear()
  showMessage()
  retryAll()
}
document.querySelector('#trouble button').onclick = () => { if (missing.size > 0) retryMissing(); else location.reload() }
window.addEventListener('online', retryMissing)

// Unexpected errors are shown too, such as a browser without WebGL: an empty map would look like clear water.
window.addEventListener('error', ({ message }) => { if (missing.size === 0) showMessage(`The map fails: ${message}`) })

document.querySelector('#legend').src = `${server}/api/v1/legend.svg`
