// Which lakes are compared. The address of the page has their ids.

/** The most lakes in one chart: with more, their lines cannot be told apart. */
export const maxLakes = 8

/**
 * Returns the ids of the compared lakes in the order in which they were chosen. The lake of the open card is one of them; for it the first
 * other one is left out if there are too many.
 * @param {Pick<ViewState, 'compare' | 'lake'>} view
 */
export function comparedLakes({ compare, lake }) {
  const ids = [...new Set([...(compare ?? '').split(','), lake ?? ''])].filter(Boolean)
  while (ids.length > maxLakes) ids.splice(ids[0] === lake ? 1 : 0, 1)
  return ids
}
