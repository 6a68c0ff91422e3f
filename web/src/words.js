// The texts of the page in the reader's language, and the formats of numbers and dates.
import { byId, files } from './dom.js'
import { store, stored } from './storage.js'

const key = 'limnomap-language'
const maxTries = 20
const retryDelay = 3000 // ms

/** The links to the page in each language. @type {HTMLAnchorElement[]} */
export const languageLinks = [...byId('languages').children]

// The user's languages, the best first: from the address, from an earlier choice, and from the browser.
const preferred = [new URLSearchParams(location.search).get('lang'), stored(key), ...navigator.languages, 'en']
  .map((l) => l?.toLowerCase().split('-')[0]).filter((l) => languageLinks.some(({ lang }) => lang === l))

/** The language of the page, such as 'de': the best of them whose words can be loaded. Without a connection those that were used before can. */
export let language = preferred[0]

/** Returns the address of words: those of the page, or with `part` those that only a later script needs. @param {string} [part] @param {string} [of] */
export const wordsFile = (part = '', of = language) => files.words.replace('LANG', part + of)

/** The words in the language of the page. */
export const words = await loadWords()

// loadWords tries again, up to a maximum: without words the page can only show the help in its HTML.
async function loadWords(tries = 1) {
  let failed
  for (language of preferred) {
    try {
      return await (await loadFile(wordsFile())).json()
    } catch (error) {
      failed = error
    }
  }
  if (tries === maxTries) throw failed
  await new Promise((resolve) => setTimeout(resolve, retryDelay))
  return loadWords(tries + 1)
}

async function loadFile(address) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`)
  return answer
}

/** Switches the language, now and for later visits, if its words can be loaded. @param {string} to */
export async function switchLanguage(to) {
  await loadFile(wordsFile('', to))
  store(key, to) // if that is denied, the address has the language
  const address = new URL(/** @type {any} */ (location))
  address.searchParams.set('lang', to)
  location.replace(address)
}

/** Replaces the {names} in a text by values. @param {string} text @param {Record<string, any>} values */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

/** The locale of formats: the user's own if the page has a language of the browser. */
export const locale = navigator.languages.find((l) => l.toLowerCase().split('-')[0] === language) ?? (language === 'en' ? 'en-GB' : language)

const plurals = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })

/** Returns a text in the plural form of a number: {n} lakes. @param {Record<string, string>} forms @param {number} n */
export const count = (forms, n) => fill(forms[plurals.select(n)] ?? forms.other, { n: number(n) })

// Where the classes begin, by chlorophyll and by cells: no rounded value crosses that.
let valueLimits = []
/** @type {number[]} */
export let cellLimits = []

/** Sets where the classes begin: at the first step of the map that reaches the limit, which is just above it in WHO 2021.
 * @param {Pick<Legend, 'classes' | 'steps' | 'guidance'>} legend */
export function setLimits({ classes, steps, guidance = [] }) {
  valueLimits = classes.map((c) => steps.find(({ from }) => from >= c.from).from)
  cellLimits = guidance.map(({ cells }) => cells)
}

/** Formats a value with two significant figures, because no satellite knows more, or with more where fewer would put it into another class:
 * 9.96 is not 10. Package data does the same; test/figures.json has cases for both.
 * @param {number} value @param {number[]} [at] where classes begin @param {number} [digits] */
export function figure(value, at = valueLimits, digits = 2) {
  const exact = Math.round(value * 100) // hundredths, because the nearest number to 3.05 is below it
  const short = +exact.toPrecision(digits) / 100
  return at.some((limit) => short >= limit !== exact / 100 >= limit) ? figure(value, at, digits + 1) : number(short)
}

/** Formats a concentration with its unit, on one line. @param {number} chl */
export const concentration = (chl) => `${figure(chl)}\u00a0µg/l`

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
