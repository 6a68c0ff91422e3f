// The values of a lake by year.

/**
 * Returns the values by year, the newest first, at the days of the newest year of all.
 * @param {Entry[]} entries oldest first @param {number} newest @returns {Entry[][]} with an empty list for a year without values
 */
export function byYear(entries, newest) {
  const years = Array.from({ length: 3 }, () => [])
  for (const e of entries) {
    const year = Number(e.date.slice(0, 4))
    years[newest - year]?.push({ ...e, time: e.time - Date.UTC(year, 0) + Date.UTC(newest, 0) })
  }
  return years
}

/** Returns the highest value of each year, the newest first. @param {Entry[]} entries @param {number} newest */
export const highest = (entries, newest) => byYear(entries, newest).filter(([e]) => e).map((year) => year.reduce((a, b) => (b.chl > a.chl ? b : a)))
