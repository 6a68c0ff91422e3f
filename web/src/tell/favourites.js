// The favourite lakes, kept in the browser: id and name, so that they have a name without a connection too.

const key = 'limnomap-favourites'

/** The most lakes that a subscription may have. */
export const maxFavourites = 100

const read = () => {
  try {
    const all = JSON.parse(localStorage[key] ?? '[]')
    return Array.isArray(all) ? all.filter(({ id, name }) => typeof id === 'string' && typeof name === 'string').slice(0, maxFavourites) : []
  } catch { // denied, or damaged
    return []
  }
}

/** Returns the favourites of this browser: `on` calls a function after each change, also by another tab.
 * @returns {{all: () => {id: string, name: string}[], has: (id: string) => boolean, add: (lakes: {id: string, name: string}[]) => void, toggle: (id: string, name: string) => void, on: (f: () => void) => void}} */
export function createFavourites() {
  let lakes = read()
  const listeners = []
  const changed = () => { for (const f of listeners) f() }
  const set = (all) => {
    lakes = all.slice(0, maxFavourites)
    try {
      localStorage[key] = JSON.stringify(lakes)
    } catch { /* denied: they last as long as the page */ }
    changed()
  }
  addEventListener('storage', (event) => {
    if (event.key !== key && event.key !== null) return
    lakes = read()
    changed()
  })
  const has = (id) => lakes.some((lake) => lake.id === id)
  return {
    has,
    all: () => lakes,
    add: (more) => set([...lakes, ...more.filter(({ id }) => !has(id))]),
    toggle: (id, name) => set(has(id) ? lakes.filter((lake) => lake.id !== id) : [...lakes, { id, name }]),
    on: (f) => listeners.push(f),
  }
}

/** Returns the ids in the address of a shared list. @param {string} search */
export const sharedIds = (search) => (
  [...new Set((new URLSearchParams(search).get('favourites') ?? '').split(',').filter((id) => /^[A-Za-z0-9][\w.-]{0,63}$/.test(id)))].slice(0, maxFavourites)
)
