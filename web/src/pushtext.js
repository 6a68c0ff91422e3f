// The text of a notification, in the language of the reader. The service worker makes it, so that the server needs not know the language.

const dayMs = 86_400_000
const oldAfter = 14 // days, as in calendar.js

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

/**
 * Returns what the verdict on a lake follows from, as laketext.js does for the page, or undefined for a statement that says nothing about swimming.
 * @param {any} news @param {number} now in ms
 */
export function verdictOf({ kind, after, chl, measured_at: at, advisory, closure, warned }, now) {
  if (closure) return 'closed'
  const official = /issued|changed/.test(kind) && { closure: 'closed', warning: 'warned' }[advisory?.kind]
  if (official || warned) return official || 'warned'
  if (advisory) return undefined
  if (chl === null) return 'none'
  const risk = ['low', 'medium', 'high', 'high'][after]
  if (Math.floor(now / dayMs) - Math.floor(Date.parse(at) / dayMs) <= oldAfter) return risk
  return risk === 'high' ? 'oldHigh' : 'old'
}

/**
 * Returns the title and the text of a notification. `tag` replaces an earlier one about the same, `lake` is the one that a tap opens, if
 * there is only one, and what is not urgent makes no sound at night: it comes late, to a device that was off by day.
 * @param {{lakes: any[], more?: number, daily?: boolean}} message as the server sends it @param {string} language such as 'de'
 * @param {any} text the words of that language, with the verdicts of the page @param {number} hour of the day @param {number} [now] in ms
 */
export function notificationText({ lakes, more, daily }, language, text, hour, now = Date.now()) {
  const locale = language === 'en' ? 'en-GB' : language
  const day = (time) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' }).format(new Date(time)) // as on the page
  const risk = (level) => text.risks[level ?? 0]
  const swim = (news) => text.verdict[verdictOf(news, now)]
  const happened = (news) => [swim(news), change(news)].filter(Boolean).join('. ')
  const change = ({ kind, before, after, advisory, closure }) => (closure ? `${fill(text.closed, closure)} ` : '') + fill(text[kind] ?? '', {
    before: risk(before), after: risk(after),
    what: text[advisory?.kind], issuer: advisory?.issuer, until: advisory?.valid_until ? fill(text.until, { date: day(Date.parse(advisory.valid_until) - 1000) }) : '',
  })
  const source = ({ chl, measured_at: at, measured_by: by, advisory }) => (at && !advisory
    ? ` ${fill(chl === null ? text.last : text.measured, { chl: new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }).format(chl ?? 0), date: day(at), by: by ? `, ${text[by]}` : '' })}`
    : '')
  const [{ id, name, kind, advisory }] = lakes
  const urgent = advisory?.kind === 'closure' && /issued|changed/.test(kind)
  const silent = !urgent && (hour >= 22 || hour < 7)
  if (!daily) return { title: name, body: happened(lakes[0]) + source(lakes[0]), tag: advisory ? `statement ${advisory.id}` : `lake ${id}`, lake: id, silent }
  const lines = lakes.map((lake) => `${lake.name}: ${happened(lake)}`)
  if (more) lines.push(fill(text.more, { n: more }))
  return { title: text.summary, body: lines.join('\n'), tag: 'summary', lake: lakes.length === 1 && !more ? id : '', silent }
}
