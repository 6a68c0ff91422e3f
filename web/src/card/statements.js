// The official statements on a card, with their texts. The card already shows the gravest one, without its text.
import { startOfWeek, weekNumber } from '../calendar.js'
import { isActive } from '../classify.js'
import { element } from '../dom.js'
import { retryButton } from '../message.js'
import { statementFacts } from '../statement.js'

const timeout = 20_000 // ms

/**
 * Shows all statements about a lake that are active now, or were at the end of a past week. The function that it returns takes the
 * lake and the date of that week, or null. An event 'outdated' of the article says once that the server no longer has the statement of the
 * lake.
 * @param {HTMLElement} article
 */
export function cardStatements(article) {
  let request = 0
  /** @type {{key: string, date: string | null, all: Advisory[]}} */
  let shown = { key: '', date: null, all: [] }
  /** @type {HTMLElement | undefined} */
  let failure
  const show = () => {
    for (const [name, nodes] of Object.entries(statementFacts(shown.all.filter((a) => isActive(a, shown.date))))) article.querySelector(`[data-fact=${name}]`).replaceChildren(...nodes)
  }
  /** @param {Lake} lake @param {string | null} date @param {string} key */
  const load = async (lake, date, key) => {
    const now = ++request
    failure?.remove()
    try {
      const answer = await fetch(statementsURL(lake.id, date), { signal: AbortSignal.timeout(timeout), cache: 'no-cache' })
      if (!answer.ok) throw answer
      const { advisories: all } = await answer.json()
      if (now !== request) return
      // The statement may have been withdrawn since the lakes were loaded. An answer from the store may be older than the statement.
      const isMissing = !all.some(({ id }) => id === lake.advisory.id)
      const isKept = answer.headers.has('X-Kept-At')
      const isNew = key !== shown.key
      shown = { key, date, all: isMissing && isKept ? [lake.advisory, ...all] : all }
      show()
      if (isMissing && !isKept && isNew) article.dispatchEvent(new Event('outdated', { bubbles: true }))
    } catch {
      if (now !== request) return
      failure = element('p', {}, ...retryButton(() => load(lake, date, key)))
      article.querySelector('.statement')?.append(failure)
    }
  }
  return (/** @type {Lake} */ lake, /** @type {string | null} */ date) => {
    if (!lake.advisory) return ++request // whose answer comes too late
    const key = `${lake.advisory.id} ${date}`
    if (key === shown.key) show()
    return load(lake, date, key)
  }
}

/** Returns the address of a lake's statements at the end of the week of a date, or now. @param {string} id @param {string | null} date */
export function statementsURL(id, date) {
  const at = date && `${new Date(startOfWeek(weekNumber(date) + 1) - 1000).toISOString().slice(0, 19)}Z`
  return `api/v1/bathing-lakes/advisories?${new URLSearchParams({ lake: id, ...(at && { active_at: at }) })}`
}
