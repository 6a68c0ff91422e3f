// The texts of the page in German or English, and the formats of numbers and dates.
import { files } from './dom.js'

const key = 'limnomap-language'
const maxTries = 20
const retryDelay = 3000 // ms

/** The language of the page, 'de' or 'en': from its address, from the user's earlier choice, or from the browser. */
export const language = [new URLSearchParams(location.search).get('lang'), storedLanguage(), navigator.language, 'en']
  .map((l) => l?.slice(0, 2).toLowerCase()).find((l) => l in files)

function storedLanguage() {
  try {
    return localStorage[key]
  } catch { // denied, as in private windows
    return null
  }
}

/** The words in that language. */
export const words = await loadWords()

// loadWords tries again, up to a maximum: without words the page can only show the help in its HTML.
async function loadWords(tries = 1) {
  try {
    const answer = await fetch(files[language])
    if (!answer.ok) throw new Error(`${files[language]}: ${answer.status}`)
    return await answer.json()
  } catch (error) {
    if (tries === maxTries) throw error
    await new Promise((resolve) => setTimeout(resolve, retryDelay))
    return loadWords(tries + 1)
  }
}

/** The language that the page can switch to. */
export const otherLanguage = language === 'de' ? 'en' : 'de'

/** Switches the language, now and for later visits. */
export function switchLanguage() {
  try {
    localStorage[key] = otherLanguage
  } catch { /* denied; the address has the language */ }
  const address = new URL(/** @type {any} */ (location))
  address.searchParams.set('lang', otherLanguage)
  location.replace(address)
}

/** Replaces the {names} in a text by values. @param {string} text @param {Record<string, any>} values */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

/** The locale of formats: the user's own if the page has the browser's language. */
export const locale = navigator.language.toLowerCase().startsWith(language) ? navigator.language : { de: 'de-DE', en: 'en-GB' }[language]

const plurals = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })

/** Returns a text in the plural form of a number: {n} lakes. @param {Record<string, string>} forms @param {number} n */
export const count = (forms, n) => fill(forms[plurals.select(n)] ?? forms.other, { n: number(n) })

/** Formats a concentration with its unit. @param {number} chl */
export const concentration = (chl) => `${number(chl)} µg/l`

/** Formats a number. @param {number} n */
export const number = (n) => numbers.format(n)

/** Formats a day: 16 Nov 2026. @param {string | number} time */
export const date = (time) => dates.format(new Date(time))

/** Formats a range of days: 16–22 Nov 2026. @param {string | number} from @param {string | number} to */
export const days = (from, to) => dates.formatRange(new Date(from), new Date(to))

/** Returns in words how long ago a number of days is: today, 19 days ago, 5 weeks ago. @param {number} n */
export function ago(n) {
  const ages = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  if (n < 28) return ages.format(-n, 'day')
  if (n < 90) return ages.format(-Math.floor(n / 7), 'week')
  return n < 730 ? ages.format(-Math.floor(n / 30.44), 'month') : ages.format(-Math.floor(n / 365.25), 'year')
}
