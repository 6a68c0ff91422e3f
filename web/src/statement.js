// An official statement about a lake, such as the closure of its beach.
import { element } from './dom.js'
import { cleanText } from './linetext.js'
import { symbol } from './symbols.js'
import { date, fill, language, words } from './words.js'

const graveKinds = ['closure', 'warning'] // say more than any value

/** Returns the facts of a card with statements: the grave ones first on the card, the others below the value.
 * @param {Advisory[]} all */
export const statementFacts = (all) => ({
  official: graveKinds.flatMap((grave) => all.filter(({ kind }) => kind === grave)).map(statement),
  notes: all.filter(({ kind }) => !graveKinds.includes(kind)).map(statement),
})

/** Returns a statement: its kind, how long it is valid, why, and who made it; and its text and a link if they are known.
 * @param {Advisory} advisory */
function statement({ kind, cause, issuer, valid_until: end, text, url }) {
  const { kinds, causes, until, open, help, link } = words.advisory
  const grave = graveKinds.includes(kind)
  // A statement is valid before its end, which often is a midnight: the day before is the last one.
  const validity = end ? fill(until, { date: date(Date.parse(end) - 1) }) : grave ? open : ''
  const title = element('strong', {}, ...(kind === 'closure' ? [symbol({ closed: true })] : []), kinds[kind] ?? kind)
  const lang = [language, 'en', 'de'].find((l) => text?.[l]) // a text in another language is better than none
  return element('div', { className: `statement ${kind}` },
    element('p', {}, title, ` ${validity}`),
    element('p', {}, causes[cause] ? `${causes[cause]} · ` : '', element('bdi', {}, cleanText(issuer))),
    element('p', {}, help[kind] ?? ''),
    element('p', { className: 'text', lang, dir: 'auto' }, cleanText(text?.[lang] ?? '')),
    ...(/^https?:/.test(url) ? [element('p', {}, element('a', { href: url, target: '_blank', rel: 'noopener' }, link))] : []))
}
