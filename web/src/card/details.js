// What a card shows below its facts. The files of this folder are a script of their own, which loads when the first card opens, so
// that a phone loads less for the map. build.mjs lets them share the other files with the script of the page.
import { element } from '../dom.js'
import { embedded } from '../share.js'
import { language } from '../words.js'
import css from './chart.css'
import { cardHistory } from './history.js'
import { cardLower } from './lower.js'
import { cardStatements } from './statements.js'
import { cardWords } from './words.js'

const sheet = new CSSStyleSheet()
sheet.replaceSync(css)
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]


/**
 * Fills a card. The function that it returns takes the lake, the date of the view, which is null for the newest week, and the Monday of
 * the week shown.
 * @param {HTMLElement} article @param {string} id @param {Page} page
 */
export function cardDetails(article, id, page) {
  const { config, legend } = page
  const section = /** @type {HTMLElement} */ (article.lastElementChild)
  const region = element('bdi')
  article.querySelector('.head').after(element('p', { className: 'region' }, region))
  const updateHistory = cardHistory(section, id, legend, (name) => { region.textContent = name })
  const updateStatements = cardStatements(article)
  const updateLower = cardLower(article, legend)
  if (!embedded()) {
    section.lastElementChild.prepend(
      element('a', { href: `lakes/${encodeURIComponent(id)}?lang=${language}` }, cardWords.card.page),
    )
  }
  if (config.contact) article.querySelector('dl').after(contact(config.contact))
  return (/** @type {Lake} */ lake, /** @type {string | null} */ date, /** @type {string | undefined} */ monday) => {
    updateStatements(lake, date)
    updateLower(lake, date)
    updateHistory(monday, lake, date)
  }
}

// contact names the authority that answers questions.
function contact({ name, url, logo }) {
  const link = url ? element('a', { href: url, ...(/^http/.test(url) && { target: '_blank', rel: 'noopener' }) }, name) : name
  return element('p', { className: 'contact' }, ...logo ? [element('img', { src: logo, alt: '' })] : [], element('span', {}, `${cardWords.card.contact} `, link))
}
