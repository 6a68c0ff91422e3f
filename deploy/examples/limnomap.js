// What the three maps share: where the server is, asking it again while it has too much to do, and saying what is missing.

/**
 * The server's address, without a slash at the end. For your own page put yours here and leave `?server=` out, or whoever
 * links to the page chooses what it shows.
 */
export const server = (new URLSearchParams(location.search).get('server') ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')

/** What a screen with small pixels asks for, in the address of a tile before `.png`. */
export const ratio = devicePixelRatio > 1 ? 2 : 1

const mostTries = 4
const longestWait = 30 // seconds, whatever Retry-After asks for
const patience = 30_000 // ms for one answer

const missing = new Map() // from the address of what could not be had to the reason
let again = () => location.reload()

/** Names what asks anew for all that is missing, when the reader wants it or the network is back. */
export const onAgain = (ask) => { again = ask }

/**
 * Returns what an address answers, as 'json', 'blob' or 'arrayBuffer'. While the server sheds load (503) or has a limit
 * (429), and while it is away, it is asked again, at most four times in all and as late as Retry-After says. What stays
 * away is said on the page, since a hole in the map must not pass for clear water.
 */
export async function ask(url, form, signal) {
  for (let tries = 1; ; tries++) {
    const { content, reason, wait } = await once(url, form, signal)
    if (signal?.aborted) throw lack(url, undefined, signal.reason)
    if (content !== undefined) {
      lack(url)
      return content
    }
    if (!wait || tries === mostTries) throw lack(url, reason, new Error(reason))
    // Not all tiles at once again: a limit that lets one through would refuse the others.
    const seconds = Math.min(longestWait, wait(tries)) * (1 + Math.random() / 2)
    await new Promise((resolve) => { setTimeout(resolve, 1000 * seconds) })
  }
}

async function once(url, form, signal) {
  const late = AbortSignal.timeout(patience)
  try {
    const answer = await fetch(url, { signal: signal ? AbortSignal.any([signal, late]) : late })
    if (answer.ok) return { content: await answer[form]() }
    const after = Number(answer.headers.get('Retry-After'))
    const passing = [429, 502, 503, 504].includes(answer.status)
    return { reason: `the server answered ${answer.status}`, wait: passing && ((tries) => after || 2 ** tries) }
  } catch {
    return { reason: 'the server does not answer', wait: (tries) => 2 ** tries }
  }
}

// lack notes why something is missing, or that it is not, and returns the error.
function lack(url, reason, error) {
  if (reason) missing.set(url, reason)
  else if (!missing.delete(url)) return error
  const [first] = missing.values()
  say(first && `${missing.size === 1 ? 'A part' : `${missing.size} parts`} of the map cannot be shown: ${first}. This says nothing of the lakes there.`)
  return error
}

/** Says something on the page, or nothing any more. */
export function say(text) {
  const trouble = document.querySelector('#trouble')
  trouble.hidden = !text
  trouble.querySelector('span').textContent = text ?? ''
}

/** Returns what the server says of its tiles: attribution, bounds, deepest zoom, and which data they show. */
export const describe = (path) => ask(`${server}/api/v1/${path}`, 'json')

/** Makes a text safe for map libraries that take an attribution as HTML. */
export const html = (text = '') => Object.assign(document.createElement('span'), { textContent: text }).innerHTML

function askAgain() {
  if (missing.size === 0) return
  missing.clear()
  say()
  again()
}
document.querySelector('#trouble button').onclick = () => { if (missing.size > 0) askAgain(); else location.reload() }
window.addEventListener('online', askAgain)

// What nobody foresaw is said as well, such as a browser without WebGL: an empty map alone would pass for clear water.
window.addEventListener('error', ({ message }) => { if (missing.size === 0) say(`The map fails: ${message}`) })

document.querySelector('#legend').src = `${server}/api/v1/legend.svg`
