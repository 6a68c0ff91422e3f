// The text of a notification, in the language of the reader. The service worker makes it, so that the server needs not know the language.

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

/**
 * Returns the title and the text of a notification. `tag` replaces an earlier one about the same, and `lake` is the one that a tap opens, if
 * there is only one.
 * @param {{lakes: any[], more?: number, daily?: boolean}} message as the server sends it @param {string} language 'de' or 'en'
 * @param {any} text the words of that language
 */
export function notificationText({ lakes, more, daily }, language, text) {
  const locale = { de: 'de-DE', en: 'en-GB' }[language]
  const day = (time) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long' }).format(new Date(time))
  const risk = (level) => text.risks[level ?? 0]
  const happened = ({ kind, before, after, advisory }) => fill(text[kind] ?? '', {
    before: risk(before), after: risk(after),
    what: text[advisory?.kind], issuer: advisory?.issuer, until: advisory?.valid_until ? fill(text.until, { date: day(advisory.valid_until) }) : '',
  })
  const source = ({ chl, measured_at: at, measured_by: by, advisory }) => (at && !advisory
    ? ` ${fill(chl === null ? text.last : text.measured, { chl: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(chl ?? 0), date: day(at), by: text[by] ?? by })}`
    : '')
  if (!daily) {
    const [lake] = lakes
    return { title: lake.name, body: happened(lake) + source(lake), tag: `lake ${lake.id}`, lake: lake.id }
  }
  const lines = lakes.map((lake) => `${lake.name}: ${happened(lake)}`)
  if (more) lines.push(fill(text.more, { n: more }))
  return { title: text.summary, body: lines.join('\n'), tag: 'summary', lake: lakes.length === 1 && !more ? lakes[0].id : '' }
}
