// The history of one lake, from the server or from the store of the service worker, and its entries in words.
import { dayMs, now, weekNumber } from '../calendar.js'
import { worse } from '../classify.js'
import { cleanText } from '../linetext.js'
import { concentration, date, days, figure, fill, words } from '../words.js'

/** The limits of a request: two years of weeks, and the maximum of the API. */
export const [twoYears, maxEntries] = [104, 5200]

const maxEarlier = 260 // entries: five years of weeks before those of the chart

const maxSource = 40 // characters of a source or region in a line

/** Returns the address of a lake's history. @param {string} id */
export const historyURL = (id) => `api/v1/bathing-lakes/history/${encodeURIComponent(id)}`

/**
 * Loads the newest entries of a lake, oldest first, with the day of the `newest` measurement. `complete` is false if the lake
 * may have older entries; `keptAt` is set if the answer comes from the store of the service worker.
 * @param {string} id @param {number} limit @param {AbortSignal} signal
 */
export async function loadHistory(id, limit, signal) {
  const answer = await fetch(`${historyURL(id)}?limit=${limit}`, { signal, cache: 'no-cache' })
  if (!answer.ok) throw answer
  const { history, ...rest } = await answer.json()
  return { ...parseHistory(history), ...rest, complete: history.length < limit, keptAt: answer.headers.get('X-Kept-At') }
}

/**
 * Loads what satellites measured in the years before the oldest entry of a chart, oldest first.
 * @param {string} id @param {Entry} oldest @param {AbortSignal} signal
 */
export async function loadEarlier(id, { time }, signal) {
  const query = new URLSearchParams({ to: new Date(time - dayMs).toISOString().slice(0, 10), data_type: 'satellite', limit: String(maxEarlier) })
  const answer = await fetch(`${historyURL(id)}?${query}`, { signal })
  if (!answer.ok) throw answer
  return parseHistory((await answer.json()).history).entries
}

/**
 * Returns entries of the API, newest first, as entries of the page, oldest first, those of one day in the order satellite, sample. A forecast
 * of a day that has been measured is left out, unless the value is poor, and limnomap's own of a day before today.
 * @param {Omit<Entry, 'forecast' | 'sample' | 'time' | 'week'>[]} history @param {number} [today]
 */
export function parseHistory(history, today = now()) {
  /** @type {Entry[]} */
  const all = history.map((e) => ({ ...e, ...(e.issued_at && { chl_lower: e.lower, chl_upper: e.upper }), forecast: e.data_type === 'ai_forecast', sample: e.data_type === 'in_situ', time: Date.parse(e.date), week: weekNumber(e.date) }))
    .reverse().sort((a, b) => a.time - b.time || Number(a.sample) - Number(b.sample))
  const measured = all.filter((e) => e.chl !== null && !e.forecast).map((e) => e.date)
  const measuredDays = new Set(all.filter((e) => e.chl !== null && !e.forecast && e.quality !== 'poor').map((e) => e.date))
  return { entries: all.filter((e) => !e.forecast || !(measuredDays.has(e.date) || (e.issued_at && e.time + dayMs <= today))), newest: measured.at(-1) }
}

/**
 * Returns the entry of the value that a lake has on its card, up to the week of `until`: one with that value from the day of `measured_at`, or
 * the newest one, since a value may have another date than its measurement. If several sources have that value on one day, the server takes
 * a doubtful one last and the last source first.
 * @param {Lake} lake @param {Entry[]} entries @param {string | null} until null for the newest week
 */
export function entryOf({ chl, who_level: level, measured_by: by, measured_at: at }, entries, until) {
  if (chl === null) return undefined
  const last = until === null ? Infinity : weekNumber(until)
  const all = entries.filter((e) => e.week <= last && e.data_type === by && e.chl === chl && e.who_level === level && e.quality !== 'poor')
  const { date: day } = all.find((e) => at.startsWith(e.date)) ?? all.at(-1) ?? {}
  const ofDay = all.filter((e) => e.date === day)
  return ofDay.find((e) => e.quality !== 'suspect') ?? ofDay[0]
}

/** Returns the value of an entry in words; if it is below the limit of its method, that limit. @param {Entry} e */
export const valueText = (e) => (e.below_limit ? `< ${concentration(e.chl_upper ?? e.chl)}` : concentration(e.chl))

/** Returns the days that an entry stands for, and how their values became one if that is known: 1–7 Sept 2026, maximum of the week.
 * @param {Entry} e */
export function periodText({ date: day, time, period_start: start = day, composite }) {
  if (start >= day) return date(time)
  const n = (time - Date.parse(start)) / dayMs + 1
  return days(start, time) + (composite ? `, ${fill(words.card.composite[composite + (n === 7 ? 'Week' : '')], { n })}` : '')
}

/** Returns the lower end of the uncertainty of an entry. Below the limit of its method a value may be zero. @param {Entry} e */
export const lowerEnd = (e) => e.chl_lower ?? (e.below_limit ? 0 : undefined)

/** Reports whether the uncertainty of an entry is known. @param {Entry} e */
export const hasRange = (e) => e.chl !== null && lowerEnd(e) < e.chl_upper

/** Returns an entry in one line: its value and its risk, and what kind of value it is.
 * @param {Entry} e @param {Legend} legend */
export function describeEntry(e, legend) {
  const { chart, risk, lake } = words
  return `${periodText(e)}: ${[
    e.chl === null ? chart.noValue : valueText(e),
    hasRange(e) && !e.below_limit && fill(e.issued_at ? chart.likely : chart.range, { from: figure(e.chl_lower), to: figure(e.chl_upper) }),
    risk[riskOf(e, legend)],
    lake[worse(e)],
    ...(e.flags ?? []).map((name) => chart.flags[name]),
    e.sample && chart.sampleEntry,
    e.forecast && chart.forecastEntry,
    chart.quality[e.quality],
    isOffScale(e) && chart.offScaleEntry,
    !e.issued_at && e.source && isolated(e.source),
  ].filter(Boolean).join(', ')}`
}

/** Returns a text of others for the middle of a line: short, and without effect on the order of the text around it. @param {string} source */
export function isolated(source) {
  const text = [...cleanText(source)]
  return `\u2068${text.length > maxSource ? `${text.slice(0, maxSource - 1).join('')}…` : text.join('')}\u2069`
}

/** Returns the risk of the level of an entry. The legend has no class of its own for the highest level.
 * @param {Entry} e @param {Legend} legend */
export const riskOf = ({ who_level: level }, { classes }) => (level === null ? '' : (classes.find((c) => c.level === level) ?? classes.at(-1)).risk)

/** The lowest value that a chart draws in its place, in µg/l. */
export const lowestDrawn = 0.1

/** Reports whether a value lies below every axis, as zero does on a logarithmic one. It is drawn at the lower end.
 * @param {Entry} e */
export const isOffScale = ({ chl }) => chl !== null && chl < lowestDrawn
