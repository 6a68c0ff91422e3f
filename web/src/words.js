// What the page says, in German and English, and how it writes numbers and dates.
import { files } from './dom.js'

const key = 'limnomap-language'
const mostTries = 20
const between = 3000 // ms

/** The language of the page: as its address asks, as the reader once chose, or as the browser speaks. 'de' or 'en'. */
export const language = [new URLSearchParams(location.search).get('lang'), chosen(), navigator.language, 'en']
  .map((l) => l?.slice(0, 2).toLowerCase()).find((l) => l in files)

function chosen() {
  try {
    return localStorage[key]
  } catch { // denied, as in private windows
    return null
  }
}

/** The page's words in that language. */
export const words = await read()

// read asks again a bounded number of times where they do not come: until then the page can only say what stands in it.
async function read(tries = 1) {
  try {
    const answer = await fetch(files[language])
    if (!answer.ok) throw new Error(`${files[language]}: ${answer.status}`)
    return await answer.json()
  } catch (error) {
    if (tries === mostTries) throw error
    await new Promise((resolve) => setTimeout(resolve, between))
    return read(tries + 1)
  }
}

/** The page's other language. */
export const other = language === 'de' ? 'en' : 'de'

/** Shows the page in its other language from now on. */
export function switchLanguage() {
  try {
    localStorage[key] = other
  } catch { // for this time the address says it
  }
  const address = new URL(location)
  address.searchParams.set('lang', other)
  location.replace(address)
}

/** A text with its {names} filled in. */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

// How numbers and dates are written, is the reader's own way where the page speaks the reader's language.
const locale = navigator.language.toLowerCase().startsWith(language) ? navigator.language : { de: 'de-DE', en: 'en-GB' }[language]

const plurals = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })

/** A text in the form that the number asks for: {n} lakes. */
export const count = (forms, n) => fill(forms[plurals.select(n)] ?? forms.other, { n: number(n) })

/** A concentration with its unit. */
export const concentration = (chl) => `${number(chl)} µg/l`

/** A number in the reader's way of writing. */
export const number = (n) => numbers.format(n)

/** A day, such as 16 Nov 2026. */
export const date = (time) => dates.format(new Date(time))

/** The days from one to another, such as 16–22 Nov 2026. */
export const days = (from, to) => dates.formatRange(new Date(from), new Date(to))

/** How long ago so many days are, in words: today, 19 days ago, 5 weeks ago. */
export function ago(days) {
  const ages = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  if (days < 28) return ages.format(-days, 'day')
  if (days < 90) return ages.format(-Math.floor(days / 7), 'week')
  return days < 730 ? ages.format(-Math.floor(days / 30.44), 'month') : ages.format(-Math.floor(days / 365.25), 'year')
}
