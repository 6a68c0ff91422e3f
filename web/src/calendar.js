// Days and weeks as the data count them: in UTC, with weeks that begin on Monday.

/** A day in ms. */
export const dayMs = 86_400_000

/**
 * Returns the number of the week of a date. Numbers of consecutive weeks differ by 1; day 0 of the Unix epoch was a Thursday.
 * @param {string} date
 */
export const weekNumber = (date) => Math.floor((Date.parse(date) / dayMs + 3) / 7)

/**
 * Returns when a week begins, in ms.
 * @param {number} week
 */
export const startOfWeek = (week) => (week * 7 - 3) * dayMs
