// What a card shows below its facts. The files of this folder are a script of their own, which loads when the first card opens, so
// that a phone loads less for the map. build.mjs lets them share the other files with the script of the page.
import { cardHistory } from './history.js'
import { cardLower } from './lower.js'
import { cardStatements } from './statements.js'

/**
 * Fills a card. The function that it returns takes the lake, the date of the view, which is null for the newest week, and the Monday of
 * the week shown.
 * @param {HTMLElement} article @param {string} id @param {Legend} legend
 */
export function cardDetails(article, id, legend) {
  const updateHistory = cardHistory(/** @type {HTMLElement} */ (article.lastElementChild), id, legend)
  const updateStatements = cardStatements(article)
  const updateLower = cardLower(article, legend)
  return (/** @type {Lake} */ lake, /** @type {string | null} */ date, /** @type {string | undefined} */ monday) => {
    updateStatements(lake, date)
    updateLower(lake, date)
    updateHistory(monday, lake, date)
  }
}
