// The server's search. It also knows regions, and lakes that the page has not loaded.

/** Requests the lakes of a search in the week of a date. @param {string} q @param {number} limit @param {string | null} date @param {RequestInit} [options] */
export const fetchSearch = (q, limit, date, options) => (
  fetch(`api/v1/bathing-lakes/search?${new URLSearchParams(/** @type {any} */ ({ q, limit, ...(date && { date }) }))}`, options)
)
