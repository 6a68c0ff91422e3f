// Days and weeks as the data count them: in UTC, a week beginning on Monday.

/** A day in ms. */
export const dayMs = 86_400_000

/** Counts ISO weeks, so that neighbours differ by one. The day that all is counted from was a Thursday. */
export const weekOf = (date) => Math.floor((Date.parse(date) / dayMs + 3) / 7)

/** When a counted week begins, in ms. */
export const startOf = (week) => (week * 7 - 3) * dayMs
