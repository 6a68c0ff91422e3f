// Single texts in the browser's local storage, which private windows may deny.

/** @param {string} key @returns {string | null | undefined} */
export function stored(key) {
  try {
    return localStorage[key]
  } catch {
    return null
  }
}

/** @param {string} key @param {string} value */
export function store(key, value) {
  try {
    localStorage[key] = value
  } catch { /* denied */ }
}
