// The address of the heat map's tiles.

/**
 * Returns the URL template for a week, a style and a version of the data. Defaults are left out, so that a tile has one
 * address and is cached once.
 * @param {string | null} date
 * @param {string | null} style
 * @param {import('./types').Style[]} styles
 * @param {string} version
 */
export function tileURL(date, style, styles, version) {
  const query = new URLSearchParams()
  if (date) query.set('date', date)
  if (styles.some((s) => s.id === style && !s.default)) query.set('style', style)
  query.set('v', version)
  return `api/v1/tiles/{z}/{x}/{y}{r}.png?${query}`
}
