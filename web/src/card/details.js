// What a card shows below its facts. The files of this folder are a script of their own, which loads when the first card opens, so
// that a phone loads less for the map. build.mjs lets them share the other files with the script of the page.
import { element } from '../dom.js'
import { lazyScript } from '../lazyscript.js'
import { showToast } from '../message.js'
import { embedded } from '../share.js'
import { language, words } from '../words.js'
import { bands, months, path, text } from './chart.js'
import css from './chart.css'
import { bottom, chartScales, height, left, right, top, valuePaths, width } from './chartgeometry.js'
import { isolated, loadHistory, riskOf, twoYears, valueText } from './entries.js'
import { cardHistory } from './history.js'
import { cardLower } from './lower.js'
import { cardStatements } from './statements.js'
import { cardWords } from './words.js'

const sheet = new CSSStyleSheet()
sheet.replaceSync(css)
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]

export { cardWords }

const [loadCompare, loadExport] = ['compare', 'export'].map(lazyScript)

/** What the script that compares lakes uses of this one. */
const tools = { bands, months, path, text, bottom, chartScales, height, left, right, top, valuePaths, width, isolated, loadHistory, riskOf, twoYears, valueText, words: cardWords.compare }

/**
 * Fills a card. The function that it returns takes the lake, the date of the view, which is null for the newest week, and the Monday of
 * the week shown. It returns a promise that ends when the card is complete.
 * @param {HTMLElement} article @param {string} id @param {Page} page
 */
export function cardDetails(article, id, page) {
  const { config, legend, view } = page
  const section = /** @type {HTMLElement} */ (article.lastElementChild)
  const region = article.querySelector('.region bdi')
  const compared = element('section', { className: 'compared', ariaLabel: cardWords.compare.heading, hidden: true })
  const compare = button(cardWords.card.compare, () => view.set({ compare: id }))
  const updateHistory = cardHistory(section, id, legend, (name) => { region.textContent = name })
  const updateStatements = cardStatements(article)
  const updateLower = cardLower(article, legend)
  if (!embedded()) {
    section.lastElementChild.prepend(
      compare,
      button(cardWords.card.picture, () => loadExport().then(({ exportChart }) => exportChart(page, cardWords.export)).catch(() => showToast(words.common.failed))),
      element('a', { href: `lakes/${encodeURIComponent(id)}?lang=${language}` }, cardWords.card.page),
    )
    article.append(compared)
  }
  if (config.contact) article.querySelector('dl').after(contact(config.contact))
  return (/** @type {Lake} */ lake, /** @type {string | null} */ date, /** @type {string | undefined} */ monday) => {
    const complete = Promise.all([updateStatements(lake, date), updateLower(lake, date), updateHistory(monday, lake, date)])
    if (!embedded()) {
      open = { box: compared, button: compare, id, monday }
      showCompared(page)
    }
    return complete
  }
}

const button = (name, onclick) => element('button', { type: 'button', onclick }, name)

/** The card that is open. @type {{box: HTMLElement, button: HTMLElement, id: string, monday: string | undefined} | undefined} */
let open
let started = false

// showCompared shows the compared lakes in the open card, if there are any.
function showCompared(page) {
  if (!started) page.view.on(['compare'], () => showCompared(page))
  started = true
  open.box.hidden = page.view.get().compare === null
  open.button.hidden = !open.box.hidden
  if (open.box.hidden) return
  loadCompare().then(({ showCompare }) => showCompare(page, open, tools)).catch(() => showToast(words.common.failed))
}

// contact names the authority that answers questions.
function contact({ name, url, logo }) {
  const link = url ? element('a', { href: url, ...(/^http/.test(url) && { target: '_blank', rel: 'noopener' }) }, name) : name
  return element('p', { className: 'contact' }, ...logo ? [element('img', { src: logo, alt: '' })] : [], element('span', {}, `${cardWords.card.contact} `, link))
}
