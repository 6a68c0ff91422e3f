// Scripts that load when they are needed.
import { files } from './dom.js'

/**
 * Returns a function that loads a script once. After a failure it requests the script from another address, because browsers remember the
 * failure of an address.
 * @param {string} name of the script in `files`
 */
export function lazyScript(name) {
  let script = null // its promise
  let failures = 0
  return () => (script ??= import(new URL(files[name] + (failures ? `?${failures}` : ''), document.baseURI).href).catch((error) => {
    script = null
    failures++
    throw error
  }))
}
